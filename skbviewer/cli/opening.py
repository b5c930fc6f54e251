# SPDX-License-Identifier: MIT
"""The argument FILE of the commands that look at a session: a session, or what one is made of."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path

from ..session import Session, open_files
from .output import Stderr, warn

HELP = "a session, or captures and KBLs (imported once, the session is kept in the cache)"


def add_files(parser: argparse.ArgumentParser) -> None:
    """Add FILE, as `files`."""
    parser.add_argument("files", type=Path, nargs="+", metavar="FILE", help=HELP)


def opened(files: Sequence[Path]) -> Session:
    """The session of `files`.  Raises BadInput and Cancelled."""
    progress = Stderr()
    try:
        return open_files(files, progress)
    finally:
        progress.close()


def warn_of(session: Session, files: Sequence[Path]) -> int:
    """Warn of verdicts by other rules than this program's; the exit code that follows.

    What is wrong with captures and KBLs is said too, for no import did: a session's are listed
    by `import` and `info`.
    """
    from ..session.rules import rules_warning

    told = [rules_warning(session.file, session.rules())]
    if session.file not in files:
        told += [warning for source in session.sources() for warning in source.warnings]
    return warn(filter(None, told))
