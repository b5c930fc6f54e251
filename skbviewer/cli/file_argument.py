# SPDX-License-Identifier: MIT
"""The argument FILE of commands that read a session: the session, or the files it is built from."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path

from ..analysis.words.sampling_text import sampling_text
from ..session import Session, open_files
from .terminal_output import Stderr, print_line, warn

HELP = "a session, or captures and KBLs; these are imported once, and the session is cached"


def add_files(parser: argparse.ArgumentParser) -> None:
    """Add the argument FILE to `parser`; its values become `files`."""
    parser.add_argument("files", type=Path, nargs="+", metavar="FILE", help=HELP)


def open_session(files: Sequence[Path]) -> Session:
    """Open the session of `files`.  Raises BadInput and Cancelled."""
    progress = Stderr()
    try:
        return open_files(files, progress)
    finally:
        progress.close()


def warn_of(session: Session, files: Sequence[Path]) -> int:
    """Print the warnings about an opened session and return the exit code.

    A warning is printed if another version of the matching rules made the verdicts. Warnings about
    captures and KBLs are printed only if these were opened directly (as `files`): `import` and
    `info` list the warnings of a session file.
    """
    from ..session.match_again import rules_warning

    warnings = [rules_warning(session.file, session.rules())]
    if session.file not in files:
        warnings += [warning for source in session.sources() for warning in source.warnings]
    return warn(filter(None, warnings))


def note_samples(*sessions: Session) -> None:
    """Print a note for each kernel log of `sessions` that recorded only some connections."""
    kernels = (one for session in sessions for one in session.stats.scope().kernels.values())
    for sample in dict.fromkeys(kernel.sample for kernel in kernels if kernel.sample):
        print_line(f"note: {sampling_text(*sample)}", error=True)
