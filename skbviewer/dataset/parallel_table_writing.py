# SPDX-License-Identifier: MIT
"""Write the tables of a long log by several tasks: each writes a share of the rows of each table.

One import determines lifetimes, clocks, matches and ids for the whole log, because all of these may
depend on any other record.  Only then is the log cut: the rows of tables of the kernel's work are
in the order of time, or nearly so, and each task reads its share of them from the finished session.
So no lifetime is cut, and all shares together have the rows of the import.
"""

from __future__ import annotations

import secrets
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import NamedTuple

from ..export.formats import Request
from ..export.parquet import SMALL, write_parquet
from ..records import BadInput, Progress, Silent
from ..records.table_columns import Share
from ..session import Session
from ..store import schema
from . import worker_memory

ROWS = 4_000_000  # of all tables, for one task: about five seconds of CPU time


class ShareTask(NamedTuple):
    """A task: write one share of the tables of the finished session `session`."""

    session: Path
    share: Share


class Written(NamedTuple):
    """The folder of a share's files; or, if `why` is not "", the file that cannot be used.

    Exceptions with several arguments cannot be sent from one worker to another.
    """

    path: Path
    why: str = ""


WriteAll = Callable[[Sequence[ShareTask], Progress], list[Path]]


def shares_of(session: Session, path: Path) -> list[ShareTask]:
    """Return the tasks that write all tables of `session`, whose file is `path`."""
    rows = sum(session.columns.length(table) for table in schema.CHUNKED)
    of = max(1, -(-rows // ROWS))
    return [ShareTask(path, Share(number, of)) for number in range(of)]


def write_share(task: ShareTask, progress: Progress | None = None) -> Written:
    """Write a share beside the session, in a new folder; running it twice makes two folders."""
    out = task.session.with_name(f"share{task.share.number}-{secrets.token_hex(4)}")
    request = Request(progress=progress or Silent(), payload=False)
    try:
        with worker_memory.of_share(task.session):
            session = Session.open(task.session)
            try:
                write_parquet(session, request, out, SMALL, task.share)
            finally:
                session.close()
    except BadInput as error:
        return Written(error.path, error.why)
    return Written(out)


def written(result: Written) -> Path:
    """Return the folder of a share.  Raises BadInput if it was not written."""
    if result.why:
        raise BadInput(result.path, None, result.why)
    return result.path


def in_this_process(shares: Sequence[ShareTask], progress: Progress) -> list[Path]:
    """Write one share after the other; return their folders.  Raises BadInput and Cancelled."""
    return [written(write_share(share, progress)) for share in shares]
