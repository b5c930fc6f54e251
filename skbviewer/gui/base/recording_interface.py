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
        """Return the number of packets."""

    def numbered(self, first: int, count: int) -> list[PacketRow]:
        """Return the packets with numbers first .. first + count - 1 that exist."""

    def kernel_only_count(self) -> int:
        """Return the number of skb lifetimes that have an address but no packet."""

    def all_kernel_only_count(self) -> int:
        """Return kernel_only_count() plus the lifetimes without an address, which come last."""

    def kernel_only(self, first: int, count: int) -> list[SeriesRow]:
        """Return the rows K<first> .. K<first + count - 1>."""

    def rows(self, ids: RowIds) -> list[PacketRow | SeriesRow]:
        """Return the rows `ids` in that order: n is packet n, -n is row K<n>."""

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

        `text` is a display filter.  `order` is a field, or a word such as "source", and True for
        descending.  Rows K<n> are included only if `kernel_only`, those without an address only if
        also `all_lives`.  `hidden` rows are left out.  Raises FilterError, BadInput and Cancelled.
        """

    def select(self, text: str) -> RowIds | None:
        """Return the rows that match the display filter `text`; None means all packets."""

    def first_fit(self, texts: Sequence[str], ids: RowIds) -> list[int]:
        """Return for each row the index of the first filter of `texts` that it matches; -1 if none.

        Raises FilterError.
        """

    def streams_followed(self) -> bool:
        """Return whether rows() includes the findings in TCP streams."""

    def follow_streams(self, progress: Progress) -> None:
        """Follow all TCP streams once: seconds for millions of packets. Raises Cancelled."""


class RecordedFields(Protocol):
    """The part of skbviewer.session's Fields that views use."""

    def values(self, name: str, ids: Sequence[int]) -> list[str]:
        """Return a field's values in rows n and -n (K<n>). Raises KeyError if unknown."""

    def texts(self, name: str) -> list[str]:
        """Return the texts that a field can have in this session, such as function names."""


class RecordedContents(Protocol):
    """The part of skbviewer.session's Contents that views use."""

    def packet_bytes(self, number: int) -> bytes | None:
        """Return the captured bytes of a packet; None if its file moved or changed its size."""

    def detail(self, number: int) -> tuple[Node, ...]:
        """Return the headers of packet `number`; () if its source file has moved."""

    def stream(self, number: int, progress: Progress | None = None) -> Stream:
        """Return the stream of a packet.  Raises KeyError if it has no stream, and Cancelled."""


class RecordedPaths(Protocol):
    """The part of skbviewer.session's Paths that views use."""

    def show_inner(self, shown: bool) -> None:
        """Set whether paths have the calls of functions without an skb; at first they have."""

    def path(self, packet: int | None = None, series: int | None = None) -> PacketPath:
        """Return the path of packet `packet`; if `packet` is None, of skb lifetime `series`.

        Raises KeyError if there is no such path.
        """

    def call_place(self, call: int) -> CallPlace:
        """Return the position of a call in its packet's path. Raises KeyError for an unknown id."""

    def row_of_leg(self, leg: int) -> int:
        """Return the row of a leg's packet (n, or -n for K<n>); 0 if there is none."""

    def row_of_event(self, event: int) -> int:
        """Return the row of an event's packet (n, or -n for K<n>); 0 if there is none."""

    def call_number(self, packet: int | None, series: int, leg: int, call: int) -> int:
        """Return the id of a call in a packet's or a lifetime's path. Raises KeyError."""

    def raw(
        self, packet: int | None, series: int, leg: int, call: int, progress: Progress | None = None
    ) -> RawCall:
        """Return the raw records of a call in a path; see call_number() and raw_calls.raw_of()."""


class RecordedCode(Protocol):
    """The part of skbviewer.session's KernelCode that views use."""

    def releases(self) -> tuple[str, ...]:
        """Return the releases of the recorded kernels, in import order."""

    def is_recorded(self, function: str) -> bool:
        """Return whether a kernel log has the code of `function`."""

    def disassemble(
        self, function: str, image: Path | None = None, progress: Progress | None = None
    ) -> Disassembly:
        """Return the code of `function`, recorded or in the file `image`, with the marks."""

    def counted(self, shown: Disassembly, counts: Path) -> Disassembly:
        """Return recorded code with its executions by the file `counts`. Raises BadInput."""


class RecordedTimeline(Protocol):
    """The part of skbviewer.session's SessionTimeline that views use."""

    def overview(self, progress: Progress | None = None) -> Overview:
        """Return density, gaps and drops of the session. The first call may take seconds."""

    def lanes(
        self, kind: str, ids: Sequence[int] = (), progress: Progress | None = None
    ) -> Timeline:
        """Return lanes of all calls, or a lane for each of the rows `ids`.

        `kind` is "cpu", "layer" or "process"; with `ids`, it is "packet" or "aligned".
        """

    def note_places(self) -> list[NotePlace]:
        """Return the notes that refer to a time, with their session times."""

    def range_filter(self, times: tuple[int, int]) -> str:
        """Return the display filter for packets captured in a range of session time."""

    def range_note(self, text: str, times: tuple[int, int]) -> Annotation:
        """Make a note on a range of session time. Notes.keep() stores it."""


class RecordedNotes(Protocol):
    """The part of skbviewer.session's Notes that views use."""

    def all(self, kind: str | None = None) -> list[Annotation]:
        """Return the notes of one kind, or all notes."""

    def keep(self, note: Annotation) -> Annotation:
        """Store a note and return it with its id.  A note with an id replaces the stored one."""

    def remove(self, note: int) -> None:
        """Remove the note with that id. Raises BadInput if the file cannot be written."""

    def flags(self, kind: str) -> RowIds:
        """Return the rows with the flag "mark", "ignore" or "time_ref": n, or -n for K<n>."""

    def set_flags(self, kind: str, rows: RowIds, on: bool = True) -> None:
        """Set or clear a flag on rows. Raises BadInput if the file cannot be written."""


class RecordedStatistics(Protocol):
    """The part of skbviewer.session's Statistics that views use."""

    def show_inner(self, shown: bool) -> None:
        """Set whether functions without an skb are counted; at first they are."""

    def table(self, name: str, rows: RowIds | None, progress: Progress) -> Table:
        """Return the table `name` of STATISTICS for `rows` (None: all). Raises Cancelled."""

    def stacks(self, rows: RowIds | None, progress: Progress) -> Sequence[Stack]:
        """Return the call stacks of `rows` (None: all).  Raises Cancelled."""

    def diagnosis(self, chosen: Chosen | None, ids: RowIds | None, progress: Progress) -> Diagnosis:
        """Diagnose the `chosen` packets, or the rows `ids` (-n for row K<n>). Raises Cancelled."""

    def prepare(self, progress: Progress) -> None:
        """Load what results of a part of a large recording read.  Raises Cancelled."""


class RecordedGraphs(Protocol):
    """The part of skbviewer.session's Graphs that views use."""

    def io(self, chosen: Chosen, texts: Sequence[str], progress: Progress) -> Sequence[IoSeries]:
        """Count the chosen packets by interval, once for each display filter of `texts`."""

    def latencies(self, chosen: Chosen, progress: Progress) -> LatencyGrid | None:
        """Count the chosen packets by capture time and time in kernel; None if none is known."""

    def paths(self, chosen: Chosen, progress: Progress) -> PathBoxes | None:
        """Return a box for each path class of the chosen packets; None if no time is known."""

    def stacks(self, chosen: Chosen, progress: Progress) -> StackTree:
        """Return the call stacks of the chosen packets."""

    def round_trips(self, chosen: Chosen, progress: Progress) -> RoundTripBars | None:
        """Return a bar for each interval of round trips; None if there are none."""


class RecordedExports(Protocol):
    """The part of skbviewer.session's Exports that views use."""

    def packets_csv(self, text: str, out: Path, progress: Progress) -> None:
        """Write to `out`, as CSV, the rows that match the display filter `text`."""

    def captured_between(self, packets: RowIds, times: tuple[int, int]) -> RowIds:
        """Return those of `packets` captured at begin <= t < end of `times` (session time, ns)."""

    def first_ns(self) -> int:
        """Return the time from which the Time column counts, ns since the epoch."""

    def to_session(self, source: int, ts: Int64s) -> Int64s:
        """Convert times (int64, ns) of a source's clock to session time."""

    def field_data(self) -> Data:
        """Return the tables from which the fields of display filters are computed."""

    def capture_bytes(self, source: int) -> UInt8s:
        """Return the contents of a capture; packet offsets are positions in it."""

    def point_packets(self, source: int, progress: Progress) -> tuple[PointPackets, UInt8s]:
        """Return the packets whose bytes a retis log contains, and the decompressed log."""


class RecordedTables(Protocol):
    """The part of skbviewer.session's SessionTables that exports use."""

    def described(self) -> tuple[TableMeaning, ...]:
        """Return the tables with their columns, in the order of docs/schema.md."""

    def blocks(
        self,
        name: str,
        columns: Sequence[str] | None,
        chosen: Mapping[str, Bools] | None,
        progress: Progress,
        share: Share = ALL,
    ) -> Iterator[dict[str, Vector]]:
        """Yield the columns of a table in blocks of rows: at least one, which may be empty.

        `share` is the share of the blocks to yield, perhaps none.
        """

    def chosen(self, packets: Int64s, kernel_only: Sequence[int]) -> Mapping[str, Bools]:
        """Return the rows that belong to `packets` and to the lifetimes of rows `kernel_only`."""


class Recording(Protocol):
    """The part of skbviewer.session.Session that views use.  Only notes and flags change."""

    @property
    def file(self) -> Path:
        """Return the path of the session."""

    @property
    def packets(self) -> RecordedPackets:
        """Return the packet list."""

    @property
    def fields(self) -> RecordedFields:
        """Return the fields of display filters."""

    @property
    def contents(self) -> RecordedContents:
        """Return the bytes of the packets."""

    @property
    def paths(self) -> RecordedPaths:
        """Return the kernel paths."""

    @property
    def code(self) -> RecordedCode:
        """Return the machine code of functions."""

    @property
    def timeline(self) -> RecordedTimeline:
        """Return the timeline."""

    @property
    def notes(self) -> RecordedNotes:
        """Return the notes and flags."""

    @property
    def stats(self) -> RecordedStatistics:
        """Return the statistics."""

    @property
    def graphs(self) -> RecordedGraphs:
        """Return the graphs of the Statistics menu."""

    @property
    def export(self) -> RecordedExports:
        """Return the part of the session that exports use."""

    @property
    def tables(self) -> RecordedTables:
        """Return the documented tables."""

    def executed_steps(self, counts: Path) -> CountedSteps:
        """Return the executed instructions of calls by the file `counts`.  Raises BadInput."""

    def close(self) -> None:
        """Close the file.  Using the session afterwards opens the file again."""

    def words(self) -> tuple[str, ...]:
        """Return the name of the open session in commands; see input_files.words()."""

    def sources(self) -> tuple[SourceRow, ...]:
        """Return the input files, in import order."""

    def info(self) -> dict[str, Any]:
        """Return counts, matches, losses, clock fits and sources: the JSON of `skbviewer info`."""

    def rules(self) -> int:
        """Return the number of the matching rules that made the verdicts."""

    def reasons(self) -> list[Reason]:
        """Count packets and skb lifetimes by verdict and reason."""

    def save_as(self, out: Path, progress: Progress) -> None:
        """Write a copy with its notes and flags to `out`. Raises BadInput and Cancelled."""

    def relocate(self, source: int, path: Path) -> None:
        """Record that the input `source` is now at `path`.  Raises KeyError and BadInput."""

    def layers(self) -> Sequence[LayerColours]:
        """Return the layers of the network stack with their colours."""


class Opener(Protocol):
    """Opens files as a recording, with the annotations of the session files `keep`."""

    def __call__(
        self, paths: Sequence[Path], progress: Progress, keep: Sequence[Path] = ()
    ) -> Recording: ...
