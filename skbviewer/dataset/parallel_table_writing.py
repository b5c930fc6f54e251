# SPDX-License-Identifier: MIT
"""Write the tables of a long log in several tasks; each task writes a share of every table's rows.

One import determines lifetimes, clocks, matches and ids for the whole log, because each of these
may depend on any record. The log is divided only after the import. The rows of the tables about the
kernel are almost in the order of time. Each task reads its share of the rows from the finished
session. In this way no lifetime is cut, and all shares together have exactly the rows of the
import.
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
    inner: bool = True  # with the calls of functions without an skb


class Written(NamedTuple):
    """The folder of a share's files; if `why` is not "", the path of the file that cannot be used.

    Exceptions with several arguments cannot be sent from one worker to another.
    """

    path: Path
    why: str = ""


WriteAll = Callable[[Sequence[ShareTask], Progress], list[Path]]


def shares_of(session: Session, path: Path, inner: bool = True) -> list[ShareTask]:
    """Return the tasks that write all tables of `session`, whose file is `path`.

    If not `inner`, the tables leave out the calls of functions without an skb.
    """
    rows = sum(session.columns.length(table) for table in schema.CHUNKED)
    of = max(1, -(-rows // ROWS))
    return [ShareTask(path, Share(number, of), inner) for number in range(of)]


def write_share(task: ShareTask, progress: Progress | None = None) -> Written:
    """Write a share into a new folder beside the session; a second run makes a second folder."""
    out = task.session.with_name(f"share{task.share.number}-{secrets.token_hex(4)}")
    request = Request(progress=progress or Silent(), payload=False)
    try:
        with worker_memory.of_share(task.session):
            session = Session.open(task.session)
            session.show_inner(task.inner)
            try:
                write_parquet(session, request, out, SMALL, task.share)
            finally:
                session.close()
    except BadInput as error:
        return Written(error.path, error.why)
    return Written(out)


def written(result: Written) -> Path:
    """Return the folder that contains the files of a share.

    Raises BadInput if the share was not written.
    """
    if result.why:
        raise BadInput(result.path, None, result.why)
    return result.path


def in_this_process(shares: Sequence[ShareTask], progress: Progress) -> list[Path]:
    """Write all shares, one after the other; return their folders.

    Raises BadInput and Cancelled.
    """
    return [written(write_share(share, progress)) for share in shares]
