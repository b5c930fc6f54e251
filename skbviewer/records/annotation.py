# SPDX-License-Identifier: MIT
"""The annotations that users add to a session: notes on packets, calls and times; flags on rows."""

from __future__ import annotations

from typing import NamedTuple

MARK, IGNORE, TIME_REF = "mark", "ignore", "time_ref"
FLAGS = (MARK, IGNORE, TIME_REF)
COMMENT, CALL_NOTE, RANGE_NOTE, VIEW = "comment", "call_note", "range_note", "view"
NOTES = (COMMENT, CALL_NOTE, RANGE_NOTE, VIEW)


class Annotation(NamedTuple):
    """A note on a packet, an skb lifetime, a call, a time range, or the session as a whole.

    `packet` and `series` are numbers in the session, and `call` is an id in table `call`.
    `begin_ns` and `end_ns` are times on the clock of `source`, a SourceRow.id. At most one of
    packet, series, call and source is set. A note of kind "view" has JSON in `text`: another part
    of the program stores its state there.
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
    """A note and its range in session time; for a single moment, begin and end are equal."""

    note: Annotation
    begin_ns: int
    end_ns: int
