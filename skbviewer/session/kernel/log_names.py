# SPDX-License-Identifier: MIT
"""The kernel logs of a session: their names, and the order of legs that are in several logs."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np

from ...matching import EXACT, Timebase
from ...records import SourceRow
from ...store.query_rows import StoredLeg


def log_names(sources: Sequence[SourceRow]) -> dict[int, str]:
    """Return for each KBL (source id) the shortest name that distinguishes it from the others.

    The name is the host name if it suffices, or else the file name, or else the full path.  Returns
    {} if there are fewer than two KBLs.
    """
    logs = [source for source in sources if source.kind.is_log]
    if len(logs) < 2:
        return {}
    hosts = [log.detail.get("hostname", "") for log in logs]
    for words in (hosts, [Path(log.path).name for log in logs]):
        if all(words) and len(set(words)) == len(logs):
            return {log.id: word for log, word in zip(logs, words, strict=True)}
    return {log.id: log.path for log in logs}


def session_times(rows: Sequence[StoredLeg], clock: Timebase) -> list[int]:
    """Return the session time at which each leg (a row of table `leg`) begins, ns."""
    begin = np.array([row.begin_ns for row in rows], np.int64)
    source = np.array([row.source for row in rows], np.int64)
    for one in np.unique(source).tolist():
        begin[source == one] = clock.to_session(one, begin[source == one])
    return [int(at) for at in begin]


def by_session_time(rows: Sequence[StoredLeg], clock: Timebase) -> list[StoredLeg]:
    """Return the legs `rows` of a packet in order of session time; ambiguous matches come last."""
    verdicts = [EXACT if row.verdict is None else row.verdict for row in rows]
    unsure = np.array(verdicts, np.int64)
    order = np.lexsort((np.array(session_times(rows, clock), np.int64), unsure))
    return [rows[at] for at in order.tolist()]
