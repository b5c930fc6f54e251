# SPDX-License-Identifier: MIT
"""skbviewer compare: print what changed between two recordings, or between two packets."""

from __future__ import annotations

import argparse
import json
from pathlib import Path

from ..analysis.comparison import SMALLEST_CHANGE, packet_steps
from ..export.comparison_json import comparison_json, steps_json
from ..export.comparison_text import comparison_lines, step_lines
from ..export.differential_stacks import write_folded_pairs, write_profile_pair
from ..session import Session
from ..session.session_comparison import Filters, comparison_of, session_stack_pairs
from .command_parsers import Commands, command, formats
from .file_argument import HELP as FILE_HELP
from .file_argument import note_samples, open_session, warn_of
from .filter_option import check_filter
from .row_numbers import path_of, row_id
from .terminal_output import Stderr, print_lines

STDOUT = Path("-")
HELP = """Two files are A and B.  If a recording consists of several files, write those of B after
--with.  A change is reported if it is at least --least %, and if chance hardly explains it: the
probability that chance caused at least one of the reported changes is at most 1 %.  The interval of
each change has a confidence of 95 %.  docs/comparing.md explains the method."""


def add(commands: Commands) -> None:
    """Add the command to `commands`."""
    text = "print what changed between two recordings"
    parser = command(commands, "compare", text, _compare)
    parser.usage = (
        "%(prog)s [-h] [--filter F] [--filter-b F] [--packets N,M] [--least P] [--all] [--json] "
        "[--folded OUT] [--speedscope OUT] A B | A... --with B..."
    )
    parser.epilog = HELP
    parser.add_argument("files", type=Path, nargs="+", metavar="A B", help=FILE_HELP)
    parser.add_argument(
        "--with", type=Path, nargs="+", dest="others", metavar="B", help="the files of B"
    )
    parser.add_argument(
        "--filter", default="", metavar="F", help="only packets that match this display filter"
    )
    parser.add_argument(
        "--filter-b",
        metavar="F",
        help="display filter for the packets of B; '--filter' then applies only to A",
    )
    parser.add_argument(
        "--packets",
        type=_pair,
        metavar="N,M",
        help="compare packet N of A with packet M of B, step by step",
    )
    least = f"report changes of at least P %%; default: {100 * SMALLEST_CHANGE:g}"
    parser.add_argument("--least", type=_percent, metavar="P", help=least)
    parser.add_argument(
        "--all",
        action="store_true",
        help="print all rows, not only the rows with the largest changes",
    )
    formats(parser, "json")
    parser.add_argument(
        "--folded",
        type=Path,
        metavar="OUT",
        help="also write the folded call stacks of A and B, for a differential flame graph; '-' "
        "stands for standard output, where they replace the comparison",
    )
    parser.add_argument(
        "--speedscope",
        type=Path,
        metavar="OUT",
        help="also write the call stacks of A and B as profiles for speedscope; '-' stands for "
        "standard output, where they replace the comparison",
    )


def _pair(text: str) -> tuple[int, int]:
    """Parse "3,K2" into the rows (3, -2). Raises argparse.ArgumentTypeError."""
    parts = text.split(",")
    if len(parts) != 2:
        raise argparse.ArgumentTypeError(f"{text!r} is not two packets: N,M")
    return row_id(parts[0]), row_id(parts[1])


def _percent(text: str) -> float:
    """Parse "1.5" into 0.015."""
    try:
        value = float(text) / 100
    except ValueError:
        value = -1.0
    if not 0 <= value < 1e6:
        raise argparse.ArgumentTypeError(f"{text!r} is not a percentage")
    return value


def _compare(arguments: argparse.Namespace) -> int:
    _refuse(arguments)
    if arguments.least is None:
        arguments.least = SMALLEST_CHANGE
    files = _files(arguments)
    a, b = (open_session(part) for part in files)
    if arguments.packets:
        _packets(arguments, (a, b), files)
    else:
        _recordings(arguments, (a, b), files)
    code = warn_of(a, files[0]) | warn_of(b, files[1])
    note_samples(a, b)
    return code


def _refuse(arguments: argparse.Namespace) -> None:
    """Raise KeyError, with a message for the user, if options exclude each other."""
    stacks = [name for name in ("folded", "speedscope") if getattr(arguments, name)]
    if arguments.packets:
        for name in (*stacks, *(n for n in ("filter", "filter_b") if getattr(arguments, n))):
            option = name.replace("_", "-")
            raise KeyError(f"compare: '--packets' and '--{option}' exclude each other")
        for name in ("least", "all"):
            if getattr(arguments, name):
                raise KeyError(f"compare: '--{name}' has no effect with '--packets'")
    streams = [f"--{name} -" for name in stacks if getattr(arguments, name) == STDOUT]
    streams += ["--json"] if arguments.json and streams else []
    if len(streams) > 1:
        raise KeyError(f"compare: {streams[0]} and {streams[1]} exclude each other")


def _files(arguments: argparse.Namespace) -> tuple[list[Path], list[Path]]:
    """Return the files of the recordings A and B. Raises KeyError with a message for the user."""
    first = list(arguments.files)
    if arguments.others:
        return first, list(arguments.others)
    if len(first) != 2:
        raise KeyError("compare: expected two files, or '--with' before the files of B")
    return first[:1], first[1:]


def _packets(
    arguments: argparse.Namespace,
    sessions: tuple[Session, Session],
    files: tuple[list[Path], list[Path]],
) -> None:
    rows: tuple[int, int] = arguments.packets
    paths = [path_of(session, row) for session, row in zip(sessions, rows, strict=True)]
    found = packet_steps(*paths)
    if arguments.json:
        print(json.dumps(steps_json(found), indent=1))
        return
    names = [
        f"packet {row if row > 0 else f'K{-row}'} of {' '.join(map(str, part))}"
        for part, row in zip(files, rows, strict=True)
    ]
    print_lines(step_lines(found, (names[0], names[1])))


def _recordings(
    arguments: argparse.Namespace,
    sessions: tuple[Session, Session],
    files: tuple[list[Path], list[Path]],
) -> None:
    other = arguments.filter
    if arguments.filter_b is not None:
        other = arguments.filter_b
        check_filter(other, "--filter-b")
    filters: Filters = (arguments.filter, other)
    texts = [[str(file) for file in part] for part in files]
    names = (" ".join(texts[0]), " ".join(texts[1]))
    progress = Stderr()
    try:
        found = comparison_of(*sessions, filters, arguments.least, progress)
        if arguments.folded or arguments.speedscope:
            pairs = session_stack_pairs(*sessions, filters, progress)
    finally:
        progress.close()
    if arguments.json:
        print(json.dumps(comparison_json(found, (texts[0], texts[1])), indent=1))
    elif STDOUT not in (arguments.folded, arguments.speedscope):
        print_lines(comparison_lines(found, names, arguments.all))
    if arguments.folded:
        write_folded_pairs(pairs, arguments.folded)
    if arguments.speedscope:
        write_profile_pair(pairs, names, arguments.speedscope)
