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

from ..analysis import LayerStyle, Names, layers, names_of
from ..analysis.dissect import Node
from ..analysis.fields.field_data import Data
from ..analysis.stats import STATISTICS, Chosen, Scope, Stack, Table, call_stacks
from ..analysis.streams import tcp_info
from ..analysis.timeline.lanes import Timeline
from ..analysis.timeline.session_overview import Overview
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
from ..records.types import UInt8s
from ..store import Columns, open_session, queries, schema
from . import annotation_places as kept
from . import exported_rows, input_files, saving
from .annotation_places import RowIds
from .kernel import clocks, kernel_paths
from .kernel import timeline_answers as time
from .kernel.raw_calls import RawCall, raw_of
from .kernel.statistics_scope import begin_of, scope_of
from .kernel.verdict_counts import Reason, reasons
from .match_again import rules_of
from .packets import column_order, filtered_rows, followed_stream, list_pages, packet_headers
from .packets.payloads import Payloads
from .session_summary import summary

FEW_PACKETS = 100_000  # up to this many, following all streams takes no noticeable time


class Session:
    """A session file opened for reading.  Several threads may use it at once."""

    def __init__(self, path: Path) -> None:
        self.file = path
        self._engine = open_session(path)
        self._names: dict[int, Names] = {}
        self._files: Payloads | None = None
        self._lock = threading.Lock()
        self._packets: int | None = None
        self._origins: list_pages.Origins | None = None
        self._summary: dict[str, Any] | None = None
        self._summary_lock = threading.Lock()
        self._overview: Overview | None = None
        self._overview_lock = threading.Lock()
        self._fields: Data | None = None
        self.columns = Columns(self._engine)  # of the bulk tables

    @classmethod
    def open(cls, path: Path) -> Session:
        """Open a session.  Raises BadInput if `path` is no session or has another version."""
        return cls(path)

    def close(self) -> None:
        """Close the file.  It is opened again if the session is used afterwards."""
        self._engine.dispose()

    @contextmanager
    def _db(self) -> Iterator[Any]:
        with self._engine.connect() as connection:
            yield connection

    def sources(self) -> tuple[SourceRow, ...]:
        """Return the input files, in import order."""
        with self._db() as db:
            rows = queries.sources(db)
        parsed = [(tuple(json.loads(r.warnings)), json.loads(r.detail)) for r in rows]
        return tuple(
            SourceRow(r.id, r.path, r.kind, r.size, r.sha256, r.rows, *more)
            for r, more in zip(rows, parsed, strict=True)
        )

    def words(self) -> tuple[str, ...]:
        """Return how a command names the open session; see inputs.words()."""
        return input_files.words(self.file, self.sources())

    def info(self) -> dict[str, Any]:
        """Return counts, matches, losses, clock fits and sources: the JSON of `skbviewer info`."""
        with self._db() as db, self._summary_lock:
            if self._summary is None:
                self._summary = summary(db, self.columns, self.sources(), self.file)
            return dict(self._summary)

    def rules(self) -> int:
        """Return the number of the rules that made the verdicts; UNNUMBERED in old sessions."""
        with self._db() as db:
            return rules_of(db)

    def reasons(self) -> list[Reason]:
        """Count packets and skb lifetimes by verdict and reason."""
        return reasons(self.columns, any(s.kind == "kbl" for s in self.sources()))

    def packet_count(self) -> int:
        if self._packets is None:
            with self._db() as db:
                self._packets = queries.count(db, schema.packet)
        return self._packets

    def packets(self, first: int, count: int) -> list[PacketRow]:
        """Return the packets with numbers first .. first + count - 1 that exist."""
        ids = list_pages.numbered(first, count, self.packet_count())
        return cast(list[PacketRow], self.rows(ids))

    def rows(self, ids: RowIds) -> list[PacketRow | SeriesRow]:
        """Return the rows `ids` in that order: n is packet n, -n is row K<n>.

        Raises KeyError for a row that does not exist.  In large sessions, Info lacks TCP stream
        analysis until follow_streams() was called.
        """
        known = list_pages.known_of(self._data(), ids, self.streams_followed())
        files = self._payloads()
        with self._db() as db:
            self._origins = self._origins or list_pages.origins(db)
            return list_pages.rows(
                db, ids, self._origins, self._names_of, self._fitted, files, known
            )

    def streams_followed(self) -> bool:
        """Return whether rows() includes what TCP streams show about their packets."""
        return tcp_info.streams_known(self._data()) or self.packet_count() <= FEW_PACKETS

    def follow_streams(self, progress: Progress | None = None) -> None:
        """Follow all TCP streams once: seconds for millions of packets.  Raises Cancelled."""
        tcp_info.follow(self._data(), progress or Silent())
        list_pages.known_of(self._data(), np.zeros(0, np.int64), True)  # cached, so no page waits

    def _payloads(self) -> Payloads:
        self._files = self._files or Payloads(self.sources())
        return self._files

    def listed(
        self,
        text: str = "",
        order: filtered_rows.Order | None = None,
        kernel_only: bool = False,
        hidden: RowIds | None = None,
        progress: Progress | None = None,
        all_lives: bool = False,
    ) -> RowIds | None:
        """Return the rows as select() does.  `order` may also be a word of ordering.WORDS."""
        if order is None or order[0] not in column_order.WORDS:
            return self.select(text, order, kernel_only, hidden, progress, all_lives)
        ids = self.select(text, None, kernel_only, hidden, progress, all_lives)
        if ids is None:
            ids = list_pages.numbered(1, self.packet_count(), self.packet_count())
        return column_order.ordered(self.columns, ids, *order)

    def _fitted(self, source: int, ts: RowIds) -> RowIds:
        """Convert times of a KBL to the first capture's clock, ns since the epoch."""
        clock = self.timebase()
        captures = [s.id for s in self.sources() if s.kind != "kbl"]
        times = clock.to_session(source, ts)
        return clock.to_source(captures[0], times) if captures else times

    def save_as(self, out: Path, progress: Progress | None = None) -> None:
        """Write a copy with its notes and flags to `out`.  Raises BadInput and Cancelled."""
        saving.save_as(self.file, out, progress or Silent())

    def relocate(self, source: int, path: Path) -> None:
        """Record where an input is now.  Raises KeyError, and BadInput if its content differs."""
        saving.relocate(self.file, {row.id: row for row in self.sources()}[source], path)
        self._files = None
        self._summary = None

    def kernel_only_count(self) -> int:
        """Return the number of skb lifetimes that have an address but no packet."""
        with self._db() as db:
            return queries.kernel_only_count(db)

    def all_kernel_only_count(self) -> int:
        """Return kernel_only_count() plus the lifetimes without an address, which come last."""
        with self._db() as db:
            return queries.all_kernel_only_count(db)

    def kernel_only(self, first: int, count: int) -> list[SeriesRow]:
        """Return the rows K<first> .. K<first + count - 1>."""
        ids = list_pages.numbered(first, count, self.kernel_only_count())
        return cast(list[SeriesRow], self.rows(-ids))

    def path(self, packet: int | None = None, series: int | None = None) -> PacketPath:
        """Return the path of a packet, else of a series.  Raises KeyError if there is none."""
        with self._db() as db:
            if packet is None:
                return kernel_paths.of_series(db, series or 0, self._names_of, self.sources())
            found = self.packets(packet, 1)
            if packet < 1 or not found:
                raise KeyError(f"no packet {packet}")
            return kernel_paths.of_packet(db, found[0], self._names_of, self.sources())

    def _names_of(self, source: int) -> Names:
        with self._lock:
            if source not in self._names:
                with self._db() as db:
                    self._names[source] = names_of(db, source)
            return self._names[source]

    def statistics(self, chosen: Chosen | None = None, progress: Progress | None = None) -> Scope:
        """Return what analysis.stats needs about the `chosen` packets and times; default all."""
        with self._db() as db:
            given = (db, self.columns, self.sources(), self.timebase(), chosen or Chosen())
            return scope_of(*given, progress)

    def statistic(
        self, name: str, rows: RowIds | None = None, progress: Progress | None = None
    ) -> Table:
        """Return a table of STATISTICS for the packets of `rows` (None: all).  Raises Cancelled."""
        chosen = Chosen(None if rows is None else rows[rows > 0])
        return STATISTICS[name].make(self.statistics(chosen, progress))

    def stacks(self, text: str = "") -> list[Stack]:
        """Return the call stacks of matching rows ("": all).  Raises FilterError and BadInput."""
        return call_stacks(self.statistics(Chosen(self.select(text))))

    def begin_ns(self) -> int:
        """Return the session time of packet 1, else of the first leg, ns: 0 in the Time column."""
        return begin_of(self.columns, self.sources(), self.timebase())

    def layers(self) -> tuple[LayerStyle, ...]:
        """Return the layers of the network stack with their colours."""
        return layers()

    def packet_bytes(self, number: int) -> bytes | None:
        """Return the captured bytes of a packet; None if its file moved or changed its size."""
        with self._db() as db:
            return packet_headers.bytes_of(db, self.sources(), number)

    def detail(self, number: int) -> tuple[Node, ...]:
        """Return the headers of packet `number`; () if its source file has moved."""
        data = self.packet_bytes(number)
        if data is None:
            return ()
        (packet,) = self.packets(number, 1)
        return packet_headers.of_packet(self, self._data(), packet, data)

    def first_fit(self, texts: Sequence[str], ids: RowIds) -> list[int]:
        """Return the first of `texts` that each row matches, else -1.  Raises FilterError."""
        return filtered_rows.first_fit(self._data(), texts, ids)

    def stream(self, number: int, progress: Progress | None = None) -> followed_stream.Stream:
        """Return the stream of packet `number`.  Raises KeyError if it has none, and Cancelled."""
        (packet,) = self.packets(number, 1)
        word = followed_stream.WORDS.get(packet.protocol or 0, "")
        values = self.field_values(f"{word}.stream", [number]) if word else [""]
        text = followed_stream.stream_filter(packet.protocol, values[0])
        ids = followed_stream.numbers_of(self.select(text), self.packet_count())
        with self._db() as db:
            return followed_stream.stream_of(db, ids, text, self.sources(), progress or Silent())

    def annotations(self, kind: str | None = None) -> list[Annotation]:
        """Return the notes of one kind, or all notes."""
        with self._db() as db:
            return kept.notes(db, kind)

    def annotate(self, note: Annotation) -> Annotation:
        """Store a note and return it with its id.  An id other than 0 replaces that note.

        Raises KeyError for a note on something that does not exist, BadInput if the file cannot be
        written.
        """
        with self._db() as db:
            return kept.keep(db, self.file, note)

    def remove(self, note: int) -> None:
        """Remove the note with that id.  Raises BadInput if the file cannot be written."""
        kept.remove(self.file, note)

    def flags(self, kind: str) -> RowIds:
        """Return the rows with the flag "mark", "ignore" or "time_ref": n, or -n for K<n>."""
        with self._db() as db:
            return kept.flags(db, kind)

    def set_flags(self, kind: str, rows: RowIds, on: bool = True) -> None:
        """Set or clear a flag on rows.  Raises BadInput if the file cannot be written."""
        with self._db() as db:
            kept.set_flags(db, self.file, kind, rows, on)

    def _data(self) -> Data:
        with self._lock:
            if self._fields is None:
                self._fields = filtered_rows.data_of(self, self._db, self._fitted)
            return self._fields

    def select(
        self,
        text: str = "",
        order: filtered_rows.Order | None = None,
        kernel_only: bool = False,
        hidden: RowIds | None = None,
        progress: Progress | None = None,
        all_lives: bool = False,
    ) -> RowIds | None:
        """Return the rows that match a display filter; see selecting.select().

        Lifetimes without a network identity are left out unless `all_lives`.
        """
        if kernel_only and not all_lives:
            first, last = self.kernel_only_count() + 1, self.all_kernel_only_count()
            unknown = -np.arange(first, last + 1, dtype=np.int64)
            hidden = unknown if hidden is None else np.concatenate([hidden, unknown])
        return filtered_rows.select(self._data(), text, order, kernel_only, hidden, progress)

    def field_words(self, name: str) -> list[str]:
        """Return the texts that a field can have in this session, such as function names."""
        return filtered_rows.words_of(self._data(), name)

    def field_values(self, name: str, ids: Sequence[int]) -> list[str]:
        """Return a field's values in rows n and -n (K<n>).  Raises KeyError if unknown."""
        return filtered_rows.values_of(self._data(), name, ids)

    def timebase(self) -> Timebase:
        """Return what maps the clock of each source to session time."""
        with self._db() as db:
            return clocks.timebase_of(db)

    def under_way(self, packet: int) -> list[clocks.UnderWay]:
        """Return how long a packet travelled between each two hosts whose KBLs show both ends."""
        with self._db() as db:
            return clocks.under_way(db, packet)

    def overview(self, progress: Progress | None = None) -> Overview:
        """Return density, gaps and drops of the session.  The first call may take seconds."""
        with self._db() as db, self._overview_lock:
            if self._overview is None:
                clock = self.timebase()
                self._overview = time.overview_of(db, self.columns, clock, progress)
            return self._overview

    def timeline(
        self, kind: str, ids: Sequence[int] = (), progress: Progress | None = None
    ) -> Timeline:
        """Return lanes by "cpu", "layer" or "process", or a lane for each of `ids` ("packet")."""
        whole = self.overview(progress)
        with self._db() as db:
            return time.timeline_of(db, self, self.timebase(), kind, ids, whole, progress)

    def call_place(self, call: int) -> time.CallPlace:
        """Return a call's place in its packet's path.  Raises KeyError for an unknown id."""
        with self._db() as db:
            return time.place_of(db, self, call)

    def call_number(self, packet: int | None, series: int, leg: int, call: int) -> int:
        """Return the id of a call in a packet's or a lifetime's path.  Raises KeyError."""
        with self._db() as db:
            return time.number_of(db, packet, series, leg, call)

    def raw(
        self, packet: int | None, series: int, leg: int, call: int, progress: Progress | None = None
    ) -> RawCall:
        """Return the raw records of a call in a path; see call_number() and raw.raw_of()."""
        number = self.call_number(packet, series, leg, call)
        with self._db() as db:
            return raw_of(db, number, self.sources(), progress or Silent())

    def note_places(self) -> list[NotePlace]:
        """Return the notes that refer to a time, with their session times."""
        with self._db() as db:
            return time.places_of(db, self.timebase(), self.annotations())

    def range_note(self, text: str, times: tuple[int, int]) -> Annotation:
        """Make a note on a range of session time.  annotate() stores it."""
        return time.range_note(self.timebase(), self.sources(), text, times)

    def range_filter(self, times: tuple[int, int]) -> str:
        """Return the display filter for packets captured in a range of session time."""
        return exported_rows.range_filter(self.timebase(), self.sources(), times)

    def lane_ids(self, text: str, times: tuple[int, int] | None) -> tuple[int, ...]:
        """Return the rows that get a lane in an exported timeline; see exporting.lane_ids()."""
        return exported_rows.lane_ids(self, self.timebase(), text, times)

    def captured_between(self, packets: RowIds, times: tuple[int, int]) -> RowIds:
        """Return those of `packets` that were captured in a range of session time, ns."""
        return exported_rows.captured_between(self.columns, self.timebase(), packets, times)

    def field_data(self) -> Data:
        """Return the tables from which the fields of display filters are computed."""
        return self._data()

    def capture_bytes(self, source: int) -> UInt8s:
        """Return the contents of a capture; packet offsets are positions in it.

        Raises BadInput if the file has moved, changed its size or cannot be read.
        """
        return self._payloads().contents(source)

    def export_packets_csv(self, text: str, out: Path) -> None:
        """Write the rows that match a display filter.  Raises FilterError and BadInput."""
        exported_rows.packets_csv(self, text, out)
