# SPDX-License-Identifier: MIT
"""Rows of the packet list, a page at a time: what is not looked at is not asked for."""

from __future__ import annotations

from collections import OrderedDict
from typing import NamedTuple

import numpy as np

from skbviewer.records import PacketRow, SeriesRow

from .contract import Recording, RowIds

PAGE = 64  # about a screen: what a jump has to wait for
PAGES_KEPT = 512


class ListRow(NamedTuple):
    """One row as shown; exactly one of `packet` and `series` is set.  ts_ns: since the epoch;
    None where it is unknown.
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
    saddr: str | None = None  # IP addresses, protocol number and ports, where there are any
    daddr: str | None = None
    ip_protocol: int | None = None
    sport: int | None = None
    dport: int | None = None
    busy_ns: int | None = None
    wait_ns: int | None = None

    @property
    def id(self) -> int:
        """n of packet n, -n of row K<n>."""
        return self.packet if self.packet is not None else -int(self.number[1:])


def of_packet(row: PacketRow) -> ListRow:
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
    return of_packet(row) if isinstance(row, PacketRow) else of_series(row)


class RowPages:
    """Rows by position from 0, of the rows `ids` in their order (None = all packets by number)."""

    def __init__(self, recording: Recording, ids: RowIds | None) -> None:
        self.recording = recording
        self._ids = ids
        self.packets = recording.packet_count()
        self.count = self.packets if ids is None else len(ids)
        self._pages: OrderedDict[int, list[ListRow]] = OrderedDict()
        self._fields: OrderedDict[tuple[int, str], list[str]] = OrderedDict()
        self._before: dict[int, list[int | None]] = {}
        self._fits_of: tuple[str, ...] = ()
        self._fits: OrderedDict[int, list[int]] = OrderedDict()

    def __getitem__(self, position: int) -> ListRow:
        page, place = divmod(position, PAGE)
        if page not in self._pages:
            rows = self.recording.rows(self.ids(page * PAGE, PAGE))
            self._pages[page] = [list_row(row) for row in rows]
            if len(self._pages) > PAGES_KEPT:
                self._pages.popitem(last=False)
        self._pages.move_to_end(page)
        return self._pages[page][place]

    def read_again(self) -> None:
        """The recording tells more of its rows now."""
        self._pages.clear()

    def loaded(self, position: int) -> bool:
        """Whether a row can be shown without asking the recording."""
        return position // PAGE in self._pages

    def ids(self, first: int, count: int) -> RowIds:
        """The ids of the rows from position `first` on, as far as there are."""
        if self._ids is not None:
            return self._ids[first : first + count]
        return np.arange(first + 1, min(first + count, self.count) + 1, dtype=np.int64)

    def field(self, position: int, name: str) -> str:
        """What the field `name` of a row says."""
        page, place = divmod(position, PAGE)
        key = (page, name)
        if key not in self._fields:
            ids = self.ids(page * PAGE, PAGE)
            self._fields[key] = self.recording.field_values(name, ids.tolist())
            if len(self._fields) > PAGES_KEPT * 4:
                self._fields.popitem(last=False)
        self._fields.move_to_end(key)
        return self._fields[key][place]

    def fit(self, position: int, texts: tuple[str, ...]) -> int:
        """The first of some display filters that a row passes, else -1."""
        page, place = divmod(position, PAGE)
        if self._fits_of != texts:
            self._fits_of, self._fits = texts, OrderedDict()
        if page not in self._fits:
            self._fits[page] = self.recording.first_fit(texts, self.ids(page * PAGE, PAGE))
            if len(self._fits) > PAGES_KEPT:
                self._fits.popitem(last=False)
        self._fits.move_to_end(page)
        return self._fits[page][place]

    def captured_before(self, position: int) -> int | None:
        """When the packet before was captured, in the order of the capture."""
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
        return [list_row(row).ts_ns for row in self.recording.rows(ids)] if len(ids) else []

    def position_of(self, row_id: int) -> int | None:
        """Where a row stands."""
        if self._ids is None:
            return row_id - 1 if 1 <= row_id <= self.packets else None
        found = np.flatnonzero(self._ids == row_id)
        return int(found[0]) if len(found) else None

    def nearest(self, row_id: int) -> int | None:
        """Where the row stands whose number is nearest among those of its kind; None: no such."""
        if self._ids is None:
            return min(max(row_id, 1), self.packets) - 1 if self.packets and row_id > 0 else None
        alike = np.flatnonzero(self._ids > 0 if row_id > 0 else self._ids < 0)
        if not len(alike):
            return None
        return int(alike[np.argmin(np.abs(self._ids[alike] - row_id))])
