# SPDX-License-Identifier: MIT
"""What a user leaves in a session: notes on packets, calls and times, and flags on rows."""

from __future__ import annotations

from typing import NamedTuple

MARK, IGNORE, TIME_REF = "mark", "ignore", "time_ref"
FLAGS = (MARK, IGNORE, TIME_REF)
COMMENT, CALL_NOTE, RANGE_NOTE, VIEW = "comment", "call_note", "range_note", "view"
NOTES = (COMMENT, CALL_NOTE, RANGE_NOTE, VIEW)


class Annotation(NamedTuple):
    """A note on a packet, a packet life, a call, a time range of one source, or on none of them.

    `packet` and `series` are numbers of this session, `call` is the id in table `call`, `source` is
    a SourceRow.id whose clock begin_ns and end_ns are of.  At most one of packet, series, call and
    source is set.  What another program part keeps (kind "view") is JSON in `text`.
    """

    kind: str  # one of NOTES
    text: str = ""
    packet: int | None = None
    series: int | None = None
    call: int | None = None
    source: int | None = None
    begin_ns: int | None = None
    end_ns: int | None = None
    id: int = 0  # 0 = not stored yet


class NotePlace(NamedTuple):
    """A note and the session time it is about; begin and end are the same for a moment."""

    note: Annotation
    begin_ns: int
    end_ns: int
