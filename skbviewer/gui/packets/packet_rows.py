# SPDX-License-Identifier: MIT
"""Rows of the packet list, read one page at a time when they are needed."""

from __future__ import annotations

from collections import OrderedDict
from typing import NamedTuple

import numpy as np

from skbviewer.records import PacketRow, SeriesRow

from ..base.recording_interface import Recording, RowIds

PAGE = 64  # rows, about a screenful: a jump waits for one page
PAGES_KEPT = 512


class ListRow(NamedTuple):
    """One row of the packet list; exactly one of `packet` and `series` is set.

    `ts_ns` is the time since the epoch; None if unknown.
    """

    number: str
    packet: int | None
    series: int | None
    ts_ns: int | None
    source: str
    destination: str
    protocol: str
    length: int | None
    info: str
    kernel_ns: int | None
    functions: int | None
    verdict: str
    confidence: float | None
    reason: str
    process: str = ""
    drop: str = ""
    drop_place: str = ""
    lost: bool = False
    saddr: str | None = None  # IP addresses, protocol number and ports, if the packet has them
    daddr: str | None = None
    ip_protocol: int | None = None
    sport: int | None = None
    dport: int | None = None
    busy_ns: int | None = None
    wait_ns: int | None = None

    @property
    def id(self) -> int:
        """Return the id of the row: n for packet n, -n for row K<n>."""
        return self.packet if self.packet is not None else -int(self.number[1:])


def of_packet(row: PacketRow) -> ListRow:
    """Return a packet as a row of the packet list."""
    return ListRow(
        str(row.number),
        row.number,
        None,
        row.ts_ns,
        row.source_text,
        row.destination_text,
        row.protocol_name,
        row.len,
        row.info,
        row.kernel_ns,
        row.functions,
        row.verdict,
        row.confidence,
        row.reason,
        row.process,
        row.drop,
        row.drop_place,
        row.lost,
        row.saddr,
        row.daddr,
        row.protocol,
        row.sport,
        row.dport,
        row.busy_ns,
        row.wait_ns,
    )


def of_series(row: SeriesRow) -> ListRow:
    """Return an skb lifetime K<n> as a row of the packet list."""
    return ListRow(
        row.number,
        None,
        row.series,
        row.time_ns,
        row.saddr or "",
        row.daddr or "",
        row.protocol_name,
        None,
        row.info,
        row.kernel_ns,
        row.functions,
        "kernel-only",
        None,
        row.reason,
        row.process,
        row.drop,
        row.drop_place,
        row.lost,
        row.saddr,
        row.daddr,
        row.protocol,
        busy_ns=row.busy_ns,
        wait_ns=row.wait_ns,
    )


def list_row(row: PacketRow | SeriesRow) -> ListRow:
    """Return a packet, or an skb lifetime K<n>, as a row of the packet list."""
    return of_packet(row) if isinstance(row, PacketRow) else of_series(row)


class RowPages:
    """Rows by position from 0: the rows `ids` in their order, or else all packets by number."""

    def __init__(self, recording: Recording, ids: RowIds | None) -> None:
        self.recording = recording
        self._ids = ids
        self.packets = recording.packets.count()
        self.count = self.packets if ids is None else len(ids)
        self._pages: OrderedDict[int, list[ListRow]] = OrderedDict()
        self._fields: OrderedDict[tuple[int, str], list[str]] = OrderedDict()
        self._before: dict[int, list[int | None]] = {}
        self._fits_of: tuple[str, ...] = ()
        self._fits: OrderedDict[int, list[int]] = OrderedDict()

    def __getitem__(self, position: int) -> ListRow:
        page, place = divmod(position, PAGE)
        if page not in self._pages:
            rows = self.recording.packets.rows(self.ids(page * PAGE, PAGE))
            self._pages[page] = [list_row(row) for row in rows]
            if len(self._pages) > PAGES_KEPT:
                self._pages.popitem(last=False)
        self._pages.move_to_end(page)
        return self._pages[page][place]

    def read_again(self) -> None:
        """Discard the rows that were read, because the recording now knows more about them."""
        self._pages.clear()

    def loaded(self, position: int) -> bool:
        """Return whether the row at `position` can be shown without a query."""
        return position // PAGE in self._pages

    def ids(self, first: int, count: int) -> RowIds:
        """Return the ids of up to `count` rows, from position `first` on."""
        if self._ids is not None:
            return self._ids[first : first + count]
        return np.arange(first + 1, min(first + count, self.count) + 1, dtype=np.int64)

    def field(self, position: int, name: str) -> str:
        """Return the value of the field `name` in the row at `position`, as text."""
        page, place = divmod(position, PAGE)
        key = (page, name)
        if key not in self._fields:
            ids = self.ids(page * PAGE, PAGE)
            self._fields[key] = self.recording.fields.values(name, ids.tolist())
            if len(self._fields) > PAGES_KEPT * 4:
                self._fields.popitem(last=False)
        self._fields.move_to_end(key)
        return self._fields[key][place]

    def fit(self, position: int, texts: tuple[str, ...]) -> int:
        """Return the index of the first filter in `texts` that a row matches; -1 if none."""
        page, place = divmod(position, PAGE)
        if self._fits_of != texts:
            self._fits_of, self._fits = texts, OrderedDict()
        if page not in self._fits:
            self._fits[page] = self.recording.packets.first_fit(texts, self.ids(page * PAGE, PAGE))
            if len(self._fits) > PAGES_KEPT:
                self._fits.popitem(last=False)
        self._fits.move_to_end(page)
        return self._fits[page][place]

    def captured_before(self, position: int) -> int | None:
        """Return the capture time (ns) of the packet before row `position`; None if unknown."""
        page, place = divmod(position, PAGE)
        if page not in self._before:
            if len(self._before) > PAGES_KEPT:
                self._before.clear()
            ids = self.ids(page * PAGE, PAGE) - 1
            wanted = np.unique(ids[ids > 0])
            times = dict(zip(wanted.tolist(), self._times(wanted), strict=True))
            self._before[page] = [times.get(n) for n in ids.tolist()]
        return self._before[page][place]

    def _times(self, ids: RowIds) -> list[int | None]:
        return [list_row(row).ts_ns for row in self.recording.packets.rows(ids)] if len(ids) else []

    def position_of(self, row_id: int) -> int | None:
        """Return the position of the row with the id `row_id`; None if it is not listed."""
        if self._ids is None:
            return row_id - 1 if 1 <= row_id <= self.packets else None
        found = np.flatnonzero(self._ids == row_id)
        return int(found[0]) if len(found) else None

    def nearest(self, row_id: int) -> int | None:
        """Return the position of the row whose number is nearest to that of `row_id`.

        Only rows of the same kind (packets or rows K<n>) count.  Returns None if the list has no
        row of this kind.
        """
        if self._ids is None:
            return min(max(row_id, 1), self.packets) - 1 if self.packets and row_id > 0 else None
        alike = np.flatnonzero(self._ids > 0 if row_id > 0 else self._ids < 0)
        if not len(alike):
            return None
        return int(alike[np.argmin(np.abs(self._ids[alike] - row_id))])
