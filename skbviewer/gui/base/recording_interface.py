# SPDX-License-Identifier: MIT
"""The interface between the window and the layer below: a recording, and how to open one."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np
import numpy.typing as npt

from skbviewer.analysis.dissect import Node
from skbviewer.analysis.fields.field_source_tables import Data
from skbviewer.analysis.graphs.io_graph_series import IoSeries
from skbviewer.analysis.graphs.latency_histogram_and_heat_map import LatencyGrid
from skbviewer.analysis.graphs.path_box_plot import PathBoxes
from skbviewer.analysis.graphs.round_trip_bars import RoundTripBars
from skbviewer.analysis.stats import Chosen, Stack, Table
from skbviewer.analysis.stats.call_stacks import StackTree
from skbviewer.analysis.timeline.lanes import Timeline
from skbviewer.analysis.timeline.session_overview import Overview
from skbviewer.export.formats import LayerColours as LayerColours
from skbviewer.records import (
    Annotation,
    NotePlace,
    PacketPath,
    PacketRow,
    Progress,
    SeriesRow,
    SourceRow,
)
from skbviewer.records.table_columns import ALL, Share, TableMeaning, Vector
from skbviewer.records.types import Bools, Int64s, UInt8s
from skbviewer.session.kernel.call_positions_in_path import CallPlace
from skbviewer.session.kernel.raw_call_records import RawCall
from skbviewer.session.kernel.verdict_counts import Reason
from skbviewer.session.packets.followed_stream import Stream

if TYPE_CHECKING:
    from skbviewer.analysis.diagnosis import Diagnosis  # which takes time to load
    from skbviewer.analysis.disassembly import Disassembly
    from skbviewer.readers import PointPackets
    from skbviewer.session.kernel.executed_instructions import CountedSteps

RowIds = npt.NDArray[np.int64]  # int64: n = packet n, -n = row K<n>


class RecordedPackets(Protocol):
    """The part of skbviewer.session's PacketList that views use."""

    def count(self) -> int:
        """Return the number of captured packets."""

    def numbered(self, first: int, count: int) -> list[PacketRow]:
        """Return `count` packets from packet `first` on, as far as they exist."""

    def kernel_only_count(self) -> int:
        """Return the number of skb lifetimes that have an address, but match no packet."""

    def all_kernel_only_count(self) -> int:
        """Return the number of skb lifetimes without a packet, even of those without an address."""

    def kernel_only(self, first: int, count: int) -> list[SeriesRow]:
        """Return the rows K<first> .. K<first + count - 1>."""

    def rows(self, ids: RowIds) -> list[PacketRow | SeriesRow]:
        """Return the rows with these ids, in the same order: n is packet n, -n is row K<n>."""

    def listed(
        self,
        text: str,
        order: tuple[str, bool] | None,
        kernel_only: bool,
        hidden: RowIds | None,
        progress: Progress,
        all_lives: bool = False,
    ) -> RowIds | None:
        """Return the ids of the rows to list; None means all packets by number.

        `text` is a display filter.  `order` is (field or a word such as "source", whether
        descending).  `kernel_only` includes the rows K<n> that have an address; `all_lives` also
        includes the rows K<n> without one.  `hidden` rows are left out.  Raises FilterError,
        BadInput and Cancelled.
        """

    def select(self, text: str) -> RowIds | None:
        """Return the ids of the rows that match the display filter `text`; None means all."""

    def first_fit(self, texts: Sequence[str], ids: RowIds) -> list[int]:
        """Return, for each row, the index of the first filter that it matches; -1 if none.

        `ids` are the rows, `texts` the display filters.  Raises FilterError.
        """

    def streams_followed(self) -> bool:
        """Return whether rows() already includes what follow_streams() found."""

    def follow_streams(self, progress: Progress) -> None:
        """Follow all TCP streams once, which may take seconds. Raises Cancelled."""


class RecordedFields(Protocol):
    """The part of skbviewer.session's Fields that views use."""

    def values(self, name: str, ids: Sequence[int]) -> list[str]:
        """Return the values of a field in the rows `ids` (-n for K<n>). Raises KeyError."""

    def texts(self, name: str) -> list[str]:
        """Return all texts that the field `name` has in this session, such as function names."""


class RecordedContents(Protocol):
    """The part of skbviewer.session's Contents that views use."""

    def packet_bytes(self, number: int) -> bytes | None:
        """Return a packet's captured bytes; None if its capture was moved or changed its size."""

    def detail(self, number: int) -> tuple[Node, ...]:
        """Return the headers of packet `number` as a tree; () if the capture file was moved."""

    def stream(self, number: int, progress: Progress | None = None) -> Stream:
        """Return packet `number`'s stream. Raises KeyError if it is in no stream, and Cancelled."""


class RecordedPaths(Protocol):
    """The part of skbviewer.session's Paths that views use."""

    def path(self, packet: int | None = None, series: int | None = None) -> PacketPath:
        """Return the path of `packet`; if None, of lifetime `series`. Raises KeyError if none."""

    def call_place(self, call: int) -> CallPlace:
        """Return packet, leg and position of the call with the id `call`. Raises KeyError."""

    def row_of_leg(self, leg: int) -> int:
        """Return the row of the packet to which `leg` belongs (n, or -n for K<n>); 0 if none."""

    def row_of_event(self, event: int) -> int:
        """Return the row of the packet to which `event` belongs (n, or -n for K<n>); 0 if none."""

    def call_number(self, packet: int | None, series: int, leg: int, call: int) -> int:
        """Return the id of call `call` of leg `leg` in a path; see path(). Raises KeyError."""

    def raw(
        self, packet: int | None, series: int, leg: int, call: int, progress: Progress | None = None
    ) -> RawCall:
        """Return the records of a call as they are in the kernel log; see call_number()."""


class RecordedCode(Protocol):
    """The part of skbviewer.session's KernelCode that views use."""

    def releases(self) -> tuple[str, ...]:
        """Return the releases of the recorded kernels, in import order."""

    def is_recorded(self, function: str) -> bool:
        """Return whether a kernel log has the code of `function`."""

    def disassemble(
        self, function: str, image: Path | None = None, progress: Progress | None = None
    ) -> Disassembly:
        """Return the marked code of `function`, which was recorded or is in the file `image`."""

    def counted(self, shown: Disassembly, counts: Path) -> Disassembly:
        """Return `shown` with each instruction's count from the file `counts`. Raises BadInput."""


class RecordedTimeline(Protocol):
    """The part of skbviewer.session's SessionTimeline that views use."""

    def overview(self, progress: Progress | None = None) -> Overview:
        """Return calls and packets over time, with gaps and drops. The first call takes seconds."""

    def lanes(
        self, kind: str, ids: Sequence[int] = (), progress: Progress | None = None
    ) -> Timeline:
        """Return the lanes of all calls or, if `ids` are given, a lane for each of these rows.

        `kind` is "cpu", "layer" or "process"; with `ids`, it is "packet" or "aligned".
        """

    def note_places(self) -> list[NotePlace]:
        """Return the notes that refer to a time, with their session times."""

    def range_filter(self, times: tuple[int, int]) -> str:
        """Return the display filter for packets captured within `times` (session time, ns)."""

    def range_note(self, text: str, times: tuple[int, int]) -> Annotation:
        """Return a new note on the range `times` (session time, ns); Notes.keep() stores it."""


class RecordedNotes(Protocol):
    """The part of skbviewer.session's Notes that views use."""

    def all(self, kind: str | None = None) -> list[Annotation]:
        """Return all notes, or only the notes of one `kind`."""

    def keep(self, note: Annotation) -> Annotation:
        """Store a note and return it with its id; it replaces a stored note with the same id."""

    def remove(self, note: int) -> None:
        """Remove the note with the id `note`. Raises BadInput if the file cannot be written."""

    def flags(self, kind: str) -> RowIds:
        """Return the rows that have the flag `kind`: n for packet n, -n for row K<n>."""

    def set_flags(self, kind: str, rows: RowIds, on: bool = True) -> None:
        """Set the flag `kind` on `rows` if `on`; otherwise, clear it.

        Raises BadInput if the file cannot be written.
        """


class RecordedStatistics(Protocol):
    """The part of skbviewer.session's Statistics that views use."""

    def table(self, name: str, rows: RowIds | None, progress: Progress) -> Table:
        """Return the statistic `name` of the packets `rows` (None: of all). Raises Cancelled."""

    def stacks(self, rows: RowIds | None, progress: Progress) -> Sequence[Stack]:
        """Return the call stacks of the packets `rows` (None: all packets). Raises Cancelled."""

    def diagnosis(self, chosen: Chosen | None, ids: RowIds | None, progress: Progress) -> Diagnosis:
        """Diagnose the `chosen` packets, or the rows `ids` (-n for K<n>). Raises Cancelled."""

    def prepare(self, progress: Progress) -> None:
        """Load the tables of statistics, so that statistics become faster. Raises Cancelled."""


class RecordedGraphs(Protocol):
    """The part of skbviewer.session's Graphs that views use."""

    def io(self, chosen: Chosen, texts: Sequence[str], progress: Progress) -> Sequence[IoSeries]:
        """Count the chosen packets in intervals of time, once for each filter in `texts`."""

    def latencies(self, chosen: Chosen, progress: Progress) -> LatencyGrid | None:
        """Count packets by capture time and time in kernel; None if no time in kernel is known."""

    def paths(self, chosen: Chosen, progress: Progress) -> PathBoxes | None:
        """Return a box plot for each path class; None if no time in kernel is known."""

    def stacks(self, chosen: Chosen, progress: Progress) -> StackTree:
        """Return the call stacks of the chosen packets as a tree."""

    def round_trips(self, chosen: Chosen, progress: Progress) -> RoundTripBars | None:
        """Return bars of TCP round trips by interval; None if the packets end no round trip."""


class RecordedExports(Protocol):
    """The part of skbviewer.session's Exports that views use."""

    def packets_csv(self, text: str, out: Path, progress: Progress) -> None:
        """Write the rows that match the display filter `text` to the file `out` as CSV."""

    def captured_between(self, packets: RowIds, times: tuple[int, int]) -> RowIds:
        """Return the `packets` captured from times[0] until before times[1] (session time, ns)."""

    def first_ns(self) -> int:
        """Return the zero of the Time column, in ns since the epoch."""

    def to_session(self, source: int, ts: Int64s) -> Int64s:
        """Return the times `ts` (ns, clock of the input `source`) as session times (ns)."""

    def field_data(self) -> Data:
        """Return the tables from which the fields of display filters are computed."""

    def capture_bytes(self, source: int) -> UInt8s:
        """Return the bytes of the capture file `source`; packets are at their offsets in it."""

    def point_packets(self, source: int, progress: Progress) -> tuple[PointPackets, UInt8s]:
        """Return the packets whose bytes the retis log `source` has, and the decompressed log."""


class RecordedTables(Protocol):
    """The part of skbviewer.session's SessionTables that exports use."""

    def described(self) -> tuple[TableMeaning, ...]:
        """Return the documented tables and their columns, in the order of docs/schema.md."""

    def blocks(
        self,
        name: str,
        columns: Sequence[str] | None,
        chosen: Mapping[str, Bools] | None,
        progress: Progress,
        share: Share = ALL,
    ) -> Iterator[dict[str, Vector]]:
        """Yield the columns of the table `name` in blocks of rows.

        There is at least one block, which may be empty.  `columns` are the wanted columns (None:
        all), `chosen` the wanted rows (None: all), as chosen() returns them.  `share` is the part
        of the blocks to yield; this part may be empty.
        """

    def chosen(self, packets: Int64s, kernel_only: Sequence[int]) -> Mapping[str, Bools]:
        """Return which rows of each table belong to `packets` or to the rows K<n> `kernel_only`."""


class Recording(Protocol):
    """The part of skbviewer.session.Session that views use.  Only notes and flags change."""

    @property
    def file(self) -> Path:
        """Return the path of the session file."""

    @property
    def packets(self) -> RecordedPackets:
        """Return the part that reads the packet list."""

    @property
    def fields(self) -> RecordedFields:
        """Return the part that reads the fields of display filters."""

    @property
    def contents(self) -> RecordedContents:
        """Return the part that reads the bytes of packets."""

    @property
    def paths(self) -> RecordedPaths:
        """Return the part that reads the paths of packets through the kernel."""

    @property
    def code(self) -> RecordedCode:
        """Return the part that reads the machine code of functions."""

    @property
    def timeline(self) -> RecordedTimeline:
        """Return the part that makes the timeline."""

    @property
    def notes(self) -> RecordedNotes:
        """Return the part that reads and stores notes and flags."""

    @property
    def stats(self) -> RecordedStatistics:
        """Return the part that makes statistics."""

    @property
    def graphs(self) -> RecordedGraphs:
        """Return the part that makes the graphs of the Statistics menu."""

    @property
    def export(self) -> RecordedExports:
        """Return the part that exports use."""

    @property
    def tables(self) -> RecordedTables:
        """Return the part that reads the documented tables."""

    def show_inner(self, shown: bool) -> None:
        """Set whether functions without an skb are shown and counted; at first they are."""

    def executed_steps(self, counts: Path) -> CountedSteps:
        """Return how many instructions each call executed, from the file `counts`.

        Raises BadInput.
        """

    def close(self) -> None:
        """Close the session file; it is opened again when the recording is used."""

    def words(self) -> tuple[str, ...]:
        """Return the arguments that name the open session in a command; see input_files.words()."""

    def sources(self) -> tuple[SourceRow, ...]:
        """Return the input files, in import order."""

    def info(self) -> dict[str, Any]:
        """Return counts, matches, losses, clock fits and sources: the JSON of `skbviewer info`."""

    def rules(self) -> int:
        """Return the version of the matching rules that gave the session's verdicts."""

    def reasons(self) -> list[Reason]:
        """Return the number of packets and skb lifetimes for each verdict and reason."""

    def save_as(self, out: Path, progress: Progress) -> None:
        """Write a copy with notes and flags to `out`. Raises BadInput and Cancelled."""

    def relocate(self, source: int, path: Path) -> None:
        """Store that the input file `source` is now at `path`.  Raises KeyError and BadInput."""

    def layers(self) -> Sequence[LayerColours]:
        """Return the layers of the network stack with their colours."""


class Opener(Protocol):
    """Opens files as a recording with the annotations of the session files `keep`."""

    def __call__(
        self, paths: Sequence[Path], progress: Progress, keep: Sequence[Path] = ()
    ) -> Recording: ...
