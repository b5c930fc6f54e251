# SPDX-License-Identifier: MIT
"""A session file opened for reading."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, cast

import numpy as np

from ..analysis import LayerStyle, Names, layers, names_of, tcp_info
from ..analysis.detail import Node
from ..analysis.fields_data import Data
from ..analysis.stats import STATISTICS, Chosen, Scope, Stack, Table, call_stacks
from ..analysis.timeline import Timeline
from ..analysis.timeline_overview import Overview
from ..matching import Timebase
from ..records import (
    Annotation,
    NotePlace,
    PacketPath,
    PacketRow,
    Progress,
    SeriesRow,
    Silent,
    SourceRow,
)
from ..store import Columns, open_session, queries, schema
from . import annotations as kept
from . import (
    clocks,
    detail,
    exporting,
    inputs,
    listing,
    ordering,
    paths,
    saving,
    selecting,
    streams,
)
from . import timeline as time
from .annotations import RowIds
from .payloads import Payloads
from .raw import RawCall, raw_of
from .reasons import Reason, reasons
from .rules import rules_of
from .statistics import begin_of, scope_of
from .summary import summary

FEW_PACKETS = 100_000  # of which all streams are looked at in no time


class Session:
    """A session file opened for reading; may be used from several threads at once."""

    def __init__(self, path: Path) -> None:
        self.file = path
        self._engine = open_session(path)
        self._names: dict[int, Names] = {}
        self._files: Payloads | None = None
        self._lock = threading.Lock()
        self._packets: int | None = None
        self._origins: listing.Origins | None = None
        self._summary: dict[str, Any] | None = None
        self._summary_lock = threading.Lock()
        self._overview: Overview | None = None
        self._overview_lock = threading.Lock()
        self._fields: Data | None = None
        self.columns = Columns(self._engine)  # whole columns of the bulk tables

    @classmethod
    def open(cls, path: Path) -> Session:
        """Raises BadInput if `path` is no session or of another version."""
        return cls(path)

    def close(self) -> None:
        """Give the file back; using the session afterwards opens it again."""
        self._engine.dispose()

    @contextmanager
    def _db(self) -> Iterator[Any]:
        with self._engine.connect() as connection:
            yield connection

    def sources(self) -> tuple[SourceRow, ...]:
        """The input files, in import order."""
        with self._db() as db:
            rows = queries.sources(db)
        told = [(tuple(json.loads(r.warnings)), json.loads(r.detail)) for r in rows]
        return tuple(
            SourceRow(r.id, r.path, r.kind, r.size, r.sha256, r.rows, *more)
            for r, more in zip(rows, told, strict=True)
        )

    def words(self) -> tuple[str, ...]:
        """How a command names what is open; see inputs.words."""
        return inputs.words(self.file, self.sources())

    def info(self) -> dict[str, Any]:
        """Counts, matches, losses, clock fits and sources; the JSON of `skbviewer info`."""
        with self._db() as db, self._summary_lock:
            if self._summary is None:
                self._summary = summary(db, self.columns, self.sources(), self.file)
            return dict(self._summary)

    def rules(self) -> int:
        """The number of the rules that made the verdicts; UNNUMBERED before rules had one."""
        with self._db() as db:
            return rules_of(db)

    def reasons(self) -> list[Reason]:
        """How many packets and packet lives have which verdict, and why."""
        return reasons(self.columns, any(s.kind == "kbl" for s in self.sources()))

    def packet_count(self) -> int:
        if self._packets is None:
            with self._db() as db:
                self._packets = queries.count(db, schema.packet)
        return self._packets

    def packets(self, first: int, count: int) -> list[PacketRow]:
        """Packets numbered first .. first + count - 1, as far as there are."""
        ids = listing.numbered(first, count, self.packet_count())
        return cast(list[PacketRow], self.rows(ids))

    def rows(self, ids: RowIds) -> list[PacketRow | SeriesRow]:
        """The rows n (packet n) and -n (K<n>) of `ids`, in that order; KeyError if one is not.

        Of large sessions Info tells nothing of TCP streams before follow_streams().
        """
        known = listing.known_of(self._data(), ids, self.streams_followed())
        files = self._payloads()
        with self._db() as db:
            self._origins = self._origins or listing.origins(db)
            return listing.rows(db, ids, self._origins, self._names_of, self._fitted, files, known)

    def streams_followed(self) -> bool:
        """Whether rows() tells at once what TCP streams tell of their packets."""
        return tcp_info.streams_known(self._data()) or self.packet_count() <= FEW_PACKETS

    def follow_streams(self, progress: Progress | None = None) -> None:
        """Look at all TCP streams: seconds for millions of packets, once.  Raises Cancelled."""
        tcp_info.follow(self._data(), progress or Silent())
        listing.known_of(self._data(), np.zeros(0, np.int64), True)  # so that no page waits for it

    def _payloads(self) -> Payloads:
        self._files = self._files or Payloads(self.sources())
        return self._files

    def listed(
        self,
        text: str = "",
        order: selecting.Order | None = None,
        kernel_only: bool = False,
        hidden: RowIds | None = None,
        progress: Progress | None = None,
        all_lives: bool = False,
    ) -> RowIds | None:
        """As select(); `order` may also be a word of ordering.WORDS."""
        if order is None or order[0] not in ordering.WORDS:
            return self.select(text, order, kernel_only, hidden, progress, all_lives)
        ids = self.select(text, None, kernel_only, hidden, progress, all_lives)
        if ids is None:
            ids = listing.numbered(1, self.packet_count(), self.packet_count())
        return ordering.ordered(self.columns, ids, *order)

    def _fitted(self, source: int, ts: RowIds) -> RowIds:
        """Times of a KBL as if the first capture had them, since the epoch."""
        clock = self.timebase()
        captures = [s.id for s in self.sources() if s.kind != "kbl"]
        times = clock.to_session(source, ts)
        return clock.to_source(captures[0], times) if captures else times

    def save_as(self, out: Path, progress: Progress | None = None) -> None:
        """Write a copy, with notes and flags.  Raises BadInput and Cancelled."""
        saving.save_as(self.file, out, progress or Silent())

    def relocate(self, source: int, path: Path) -> None:
        """The input file of source `source` is at `path` now.

        Raises KeyError for an unknown source, BadInput if that file is another one.
        """
        saving.relocate(self.file, {row.id: row for row in self.sources()}[source], path)
        self._files = None
        self._summary = None

    def kernel_only_count(self) -> int:
        """How many packet lives with a network identity have no wire packet."""
        with self._db() as db:
            return queries.kernel_only_count(db)

    def all_kernel_only_count(self) -> int:
        """As kernel_only_count(), and behind them those without a network identity."""
        with self._db() as db:
            return queries.all_kernel_only_count(db)

    def kernel_only(self, first: int, count: int) -> list[SeriesRow]:
        """Rows K<first> .. K<first + count - 1>."""
        ids = listing.numbered(first, count, self.kernel_only_count())
        return cast(list[SeriesRow], self.rows(-ids))

    def path(self, packet: int | None = None, series: int | None = None) -> PacketPath:
        """The kernel path of a packet (by number) or of a series; KeyError if there is none."""
        with self._db() as db:
            if packet is None:
                return paths.of_series(db, series or 0, self._names_of, self.sources())
            found = self.packets(packet, 1)
            if packet < 1 or not found:
                raise KeyError(f"no packet {packet}")
            return paths.of_packet(db, found[0], self._names_of, self.sources())

    def _names_of(self, source: int) -> Names:
        with self._lock:
            if source not in self._names:
                with self._db() as db:
                    self._names[source] = names_of(db, source)
            return self._names[source]

    def statistics(self, chosen: Chosen | None = None, progress: Progress | None = None) -> Scope:
        """What analysis.stats needs of the `chosen` packets and time, else of all."""
        with self._db() as db:
            given = (db, self.columns, self.sources(), self.timebase(), chosen or Chosen())
            return scope_of(*given, progress)

    def statistic(
        self, name: str, rows: RowIds | None = None, progress: Progress | None = None
    ) -> Table:
        """A table of STATISTICS: of the packets among `rows`, else of all.  Raises Cancelled."""
        chosen = Chosen(None if rows is None else rows[rows > 0])
        return STATISTICS[name].make(self.statistics(chosen, progress))

    def stacks(self, text: str = "") -> list[Stack]:
        """The call stacks of what a filter shows, "" is all.  Raises FilterError and BadInput."""
        return call_stacks(self.statistics(Chosen(self.select(text))))

    def begin_ns(self) -> int:
        """Session time of packet 1, where the list's Time begins; without one, of the first leg."""
        return begin_of(self.columns, self.sources(), self.timebase())

    def layers(self) -> tuple[LayerStyle, ...]:
        """The layers of the stack with their colours."""
        return layers()

    def packet_bytes(self, number: int) -> bytes | None:
        """The captured bytes, from the source file; None if it moved or changed its size."""
        with self._db() as db:
            return detail.bytes_of(db, self.sources(), number)

    def detail(self, number: int) -> tuple[Node, ...]:
        """The headers of packet `number` from its captured bytes; none if the source file moved."""
        data = self.packet_bytes(number)
        if data is None:
            return ()
        (packet,) = self.packets(number, 1)
        return detail.of_packet(self, self._data(), packet, data)

    def first_fit(self, texts: Sequence[str], ids: RowIds) -> list[int]:
        """For each row of `ids` the first of some filters that it passes, else -1; FilterError."""
        return selecting.first_fit(self._data(), texts, ids)

    def stream(self, number: int, progress: Progress | None = None) -> streams.Stream:
        """What the ends of packet `number` said.  Raises KeyError without a stream, Cancelled."""
        (packet,) = self.packets(number, 1)
        word = streams.WORDS.get(packet.protocol or 0, "")
        values = self.field_values(f"{word}.stream", [number]) if word else [""]
        text = streams.stream_filter(packet.protocol, values[0])
        ids = streams.numbers_of(self.select(text), self.packet_count())
        with self._db() as db:
            return streams.stream_of(db, ids, text, self.sources(), progress or Silent())

    def annotations(self, kind: str | None = None) -> list[Annotation]:
        """The notes of one kind, or of all."""
        with self._db() as db:
            return kept.notes(db, kind)

    def annotate(self, note: Annotation) -> Annotation:
        """Store a note, in place of the one with its id unless that is 0; returns it with its id.

        Raises KeyError for a note on nothing, BadInput if the file cannot be written.
        """
        with self._db() as db:
            return kept.keep(db, self.file, note)

    def remove(self, note: int) -> None:
        """Remove the note of that id.  Raises BadInput if the file cannot be written."""
        kept.remove(self.file, note)

    def flags(self, kind: str) -> RowIds:
        """The rows with the flag "mark", "ignore" or "time_ref": n = packet n, -n = row K<n>."""
        with self._db() as db:
            return kept.flags(db, kind)

    def set_flags(self, kind: str, rows: RowIds, on: bool = True) -> None:
        """Set or clear a flag on rows.  Raises BadInput if the file cannot be written."""
        with self._db() as db:
            kept.set_flags(db, self.file, kind, rows, on)

    def _data(self) -> Data:
        with self._lock:
            if self._fields is None:
                self._fields = selecting.data_of(self, self._db, self._fitted)
            return self._fields

    def select(
        self,
        text: str = "",
        order: selecting.Order | None = None,
        kernel_only: bool = False,
        hidden: RowIds | None = None,
        progress: Progress | None = None,
        all_lives: bool = False,
    ) -> RowIds | None:
        """The rows a display filter shows; see selecting.select.

        Packet lives without a network identity are left out unless `all_lives`.
        """
        if kernel_only and not all_lives:
            first, last = self.kernel_only_count() + 1, self.all_kernel_only_count()
            unknown = -np.arange(first, last + 1, dtype=np.int64)
            hidden = unknown if hidden is None else np.concatenate([hidden, unknown])
        return selecting.select(self._data(), text, order, kernel_only, hidden, progress)

    def field_words(self, name: str) -> list[str]:
        """The texts a field can have in this session: function names, processes, ..."""
        return selecting.words_of(self._data(), name)

    def field_values(self, name: str, ids: Sequence[int]) -> list[str]:
        """The values of a field in rows n (packets) and -n (rows K<n>); KeyError if unknown."""
        return selecting.values_of(self._data(), name, ids)

    def timebase(self) -> Timebase:
        """What maps the clock of each source to session time."""
        with self._db() as db:
            return clocks.timebase_of(db)

    def under_way(self, packet: int) -> list[clocks.UnderWay]:
        """How long a packet was under way, for each two hosts whose KBLs show both its ends."""
        with self._db() as db:
            return clocks.under_way(db, packet)

    def overview(self, progress: Progress | None = None) -> Overview:
        """The whole session at a glance: density, gaps, drops; reads all calls the first time."""
        with self._db() as db, self._overview_lock:  # it may take seconds
            if self._overview is None:
                clock = self.timebase()
                self._overview = time.overview_of(db, self.columns, clock, progress)
            return self._overview

    def timeline(
        self, kind: str, ids: Sequence[int] = (), progress: Progress | None = None
    ) -> Timeline:
        """Lanes by "cpu", "layer", "process", or a lane for each of `ids` ("packet")."""
        whole = self.overview(progress)
        with self._db() as db:
            return time.timeline_of(db, self, self.timebase(), kind, ids, whole, progress)

    def call_place(self, call: int) -> time.CallPlace:
        """The call of that id in its packet's path.  Raises KeyError if there is none."""
        with self._db() as db:
            return time.place_of(db, self, call)

    def call_number(self, packet: int | None, series: int, leg: int, call: int) -> int:
        """The id of a call of a packet's path (or of a series').  Raises KeyError."""
        with self._db() as db:
            return time.number_of(db, packet, series, leg, call)

    def raw(
        self, packet: int | None, series: int, leg: int, call: int, progress: Progress | None = None
    ) -> RawCall:
        """The raw records of a call of a packet's path; see call_number() and raw.raw_of()."""
        number = self.call_number(packet, series, leg, call)
        with self._db() as db:
            return raw_of(db, number, self.sources(), progress or Silent())

    def note_places(self) -> list[NotePlace]:
        """The notes that are about a time, in session time."""
        with self._db() as db:
            return time.places_of(db, self.timebase(), self.annotations())

    def range_note(self, text: str, times: tuple[int, int]) -> Annotation:
        """A note on a range of session time, not stored yet: see annotate()."""
        return time.range_note(self.timebase(), self.sources(), text, times)

    def range_filter(self, times: tuple[int, int]) -> str:
        """The display filter for packets captured in a range of session time."""
        return exporting.range_filter(self.timebase(), self.sources(), times)

    def lane_ids(self, text: str, times: tuple[int, int] | None) -> tuple[int, ...]:
        """The rows that an exported timeline has a lane for each; see exporting.lane_ids."""
        return exporting.lane_ids(self, self.timebase(), text, times)

    def export_packets_csv(self, text: str, out: Path) -> None:
        """Write the rows that a display filter shows.  Raises FilterError and BadInput."""
        exporting.packets_csv(self, text, out)
