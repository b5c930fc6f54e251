# SPDX-License-Identifier: MIT
"""Run one command, or open the window if the first word is not a command."""

from __future__ import annotations

import argparse
import errno
import os
import sys
from collections.abc import Iterable, Sequence
from importlib import import_module
from pathlib import Path

from .. import __version__
from ..records import BadInput, Cancelled
from ..records.file_names import is_utf8, shown
from .program_start import end_by_signals, importing
from .terminal_output import print_line

# A module is imported only when its command runs, so that no command waits for another.
COMMANDS = {
    "import": "importing",
    "info": "info",
    "packets": "packets",
    "path": "path",
    "stats": "stats",
    "compare": "compare",
    "diagnose": "diagnose",
    "disassemble": "disassemble",
    "export": "export",
    "query": "query",
    "dataset": "dataset",
    "dump": "dump",
    "wireshark": "wireshark",
}


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command, or open the window if the first word is not a command.

    `argv` are the arguments without the program's name, sys.argv by default.  Returns the exit
    code.
    """
    words = list(sys.argv[1:] if argv is None else argv)
    try:
        _check_words(words)
        if words and (words[0] in COMMANDS or words[0] in ("-h", "--help", "--version")):
            chosen = [words[0]] if words[0] in COMMANDS else COMMANDS
            arguments = _parsed(_parser(chosen), words)
            if argv is None:  # not in the window: Qt's loop would not notice a signal
                end_by_signals()
            code = int(arguments.run(arguments))
            sys.stdout.flush()  # so that a full disk is noticed here
            return code
        with importing():
            window = import_module(".window", __package__)
        return int(window.run(words))
    except BadInput as error:
        return _fail(str(error))
    except UnicodeEncodeError as error:
        if error.reason != "surrogates not allowed":
            raise
        return _fail("the name of a file or folder is not UTF-8: rename the file or folder")
    except ValueError as error:
        return _fail(_filter_error(error))
    except KeyError as error:
        return _fail(str(error.args[0]))
    except (Cancelled, KeyboardInterrupt):
        return _fail("cancelled")
    except BrokenPipeError:  # the reader of our output (head, less) has exited
        sys.stderr.close()
        return 0
    except OSError as error:
        if error.errno != errno.ENOSPC or error.filename is not None:
            raise
        _forget_output()
        return _fail(f"standard output: cannot write: {error.strerror}")


def _check_words(words: Iterable[str]) -> None:
    """Raise KeyError for a word that is not UTF-8: no output could contain it."""
    for word in words:
        if not is_utf8(word):
            raise KeyError(f"{shown(word)}: not UTF-8; rename the file, or the folder it is in")


def _forget_output() -> None:
    """Discard unwritten output; otherwise Python tries again to write it when the program ends."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, sys.stdout.fileno())
    os.close(nowhere)


def _fail(text: str) -> int:
    for line in f"skbviewer: {text}".split("\n"):
        print_line(line, error=True)
    return 2


def _filter_error(error: ValueError) -> str:
    """Return the message for an invalid display filter; raise any other error again."""
    from ..analysis.display_filter import FilterError
    from .filter_option import error_text

    if not isinstance(error, FilterError):
        raise error
    return error_text(error)


def _parsed(parser: argparse.ArgumentParser, words: Sequence[str]) -> argparse.Namespace:
    """Parse `words`.

    Files may also follow options; argparse reports these files as unknown arguments.
    """
    arguments, rest = parser.parse_known_args(words)
    if rest and ("files" not in arguments or any(word.startswith("-") for word in rest)):
        parser.error(f"unrecognized arguments: {' '.join(rest)}")
    if rest:
        arguments.files += map(Path, rest)
    return arguments


def _parser(chosen: Iterable[str]) -> argparse.ArgumentParser:
    """Return a parser that has the commands `chosen`."""
    parser = argparse.ArgumentParser(
        prog="skbviewer",
        description="What did the kernel do with this packet? Without a command, the window opens.",
        epilog="skbviewer [FILE...] [--goto N] [--filter F] opens captures, KBLs or sessions in "
        "the window, goes to packet N (or K<N>) and applies the display filter F.",
    )
    parser.add_argument("--version", action="version", version=f"skbviewer {__version__}")
    commands = parser.add_subparsers(required=True, metavar="COMMAND")
    with importing():
        for name in chosen:
            import_module(f".{COMMANDS[name]}", __package__).add(commands)
    return parser
