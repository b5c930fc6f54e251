# SPDX-License-Identifier: MIT
"""Find Packet: search rows by text, bytes or display filter.  No Qt."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from enum import Enum
from typing import NamedTuple

import numpy as np

from skbviewer.records import Progress

from ..base.recording_interface import Recording, RowIds
from ..packets.packet_rows import ListRow, RowPages, list_row

FIRST, BLOCK = 64, 1024  # rows per request: first few, then many


class What(Enum):
    """The kinds of search texts; each value is Wireshark's word for the kind."""

    FILTER = "Display filter"
    STRING = "String"
    HEX = "Hex value"
    REGEX = "Regular Expression"


class Where(Enum):
    """The places in which strings are searched for."""

    LIST = "Packet list"
    BYTES = "Packet bytes"


class Search(NamedTuple):
    """A search as typed."""

    text: str
    what: What = What.STRING
    where: Where = Where.LIST
    case_sensitive: bool = False


class BadSearch(ValueError):
    """The search text is invalid; the message is one line."""


def find_position(
    recording: Recording,
    ids: RowIds | None,
    start: int,
    step: int,
    search: Search,
    progress: Progress,
) -> int | None:
    """Return the position of the next row that matches `search`; None if there is none.

    The search starts after position `start` and wraps around.  A `step` of -1 searches backwards.
    `ids` are the listed rows; None means all packets.  Raises BadSearch, Cancelled, and the errors
    of RecordedPackets.listed().
    """
    pages = RowPages(recording, ids)
    if search.what is What.FILTER:
        return _find_filtered(recording, pages, ids, start, step, search.text, progress)
    if search.what is What.HEX or search.where is Where.BYTES:
        text = _bytes_filter(search)
        return _find_filtered(recording, pages, ids, start, step, text, progress)
    hit = _text_test(search)
    for done, positions in _around(pages.count, start, step):
        progress.report("Searching", done, pages.count)
        asked = positions + 1 if ids is None else ids[positions]
        for position, row in zip(positions.tolist(), recording.packets.rows(asked), strict=True):
            if hit(list_row(row)):
                return int(position)
    return None


def check(search: Search) -> None:
    """Raise BadSearch if `search` is invalid.  A display filter is checked only when it runs."""
    if not search.text:
        raise BadSearch("no search text")
    if search.what is What.HEX:
        _hex(search.text)
    if search.what is What.REGEX:
        _regex(search.text, re.NOFLAG)


def _around(count: int, start: int, step: int) -> Iterator[tuple[int, RowIds]]:
    """Yield blocks of positions, from `start` once around the whole list.

    Each block is (number of positions before it, positions).

    The first blocks are small, because a match may be near.
    """
    begin, size = 1, FIRST
    while begin <= count:
        distance = np.arange(begin, min(begin + size, count + 1))
        yield begin - 1, (start + distance * step) % count
        begin, size = begin + size, BLOCK


def _find_filtered(
    recording: Recording,
    pages: RowPages,
    ids: RowIds | None,
    start: int,
    step: int,
    text: str,
    progress: Progress,
) -> int | None:
    listed = pages.ids(0, pages.count) if ids is None else ids
    found = recording.packets.listed(text, None, bool((listed < 0).any()), None, progress)
    hits = np.flatnonzero(np.isin(listed, found)) if found is not None else np.arange(len(listed))
    if not len(hits):
        return None
    if step > 0:
        later = hits[hits > start]
        return int(later[0] if len(later) else hits[0])
    before = hits[hits < start]
    return int(before[-1] if len(before) else hits[-1])


def _text_test(search: Search) -> Callable[[ListRow], bool]:
    def texts(row: ListRow) -> str:
        shown = (row.number, row.source, row.destination, row.protocol, row.info)
        return "\t".join((*shown, row.drop, row.process, row.verdict))

    if search.what is What.REGEX:
        pattern = _regex(search.text, re.NOFLAG if search.case_sensitive else re.IGNORECASE)
        return lambda row: pattern.search(texts(row)) is not None
    if search.case_sensitive:
        return lambda row: search.text in texts(row)
    wanted = search.text.casefold()
    return lambda row: wanted in texts(row).casefold()


def _bytes_filter(search: Search) -> str:
    """Return a search for bytes as a display filter: a filter searches many packets at once."""
    if search.what is What.HEX:
        return f"frame contains 0x{_hex(search.text).hex()}"
    pattern = search.text if search.what is What.REGEX else re.escape(search.text)
    _regex(pattern, re.NOFLAG)
    flags = "s-i" if search.case_sensitive else "s"
    plain = pattern.replace('"', r"\x22")  # it would end the string
    return f'frame matches r"(?{flags}:{plain})"'


def _hex(text: str) -> bytes:
    digits = re.sub(r"[\s:.-]|0x", "", text)
    try:
        return bytes.fromhex(digits)
    except ValueError:
        raise BadSearch(f"not pairs of hex digits: {text}") from None


def _regex(text: str, flags: re.RegexFlag) -> re.Pattern[str]:
    try:
        return re.compile(text, flags)
    except re.error as error:
        raise BadSearch(f"not a regular expression: {error}") from None


def conversation_step(
    recording: Recording, row: ListRow, text: str, step: int, progress: Progress
) -> int | None:
    """Return the next (`step` 1) or previous (-1) packet of a conversation; None if there is none.

    `text` is the display filter of the conversation.  The search starts at `row`.
    """
    found = recording.packets.listed(text, None, False, None, progress)
    if found is None:
        return None
    at = int(np.searchsorted(found, row.id))
    at = at + 1 if step > 0 and at < len(found) and found[at] == row.id else at
    at = at - 1 if step < 0 else at
    return int(found[at]) if 0 <= at < len(found) else None


def row_of(recording: Recording, row_id: int) -> ListRow:
    """Return the row with the id `row_id`: n for packet n, -n for row K<n>."""
    return list_row(recording.packets.rows(np.array([row_id]))[0])
