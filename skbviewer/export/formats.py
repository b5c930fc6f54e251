# SPDX-License-Identifier: MIT
"""The types of an export format: a line of the table EXPORTS, and the input of a writer."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from enum import Enum
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

import numpy as np
import numpy.typing as npt

from ..analysis.timeline.shown_timeline_part import Shown
from ..records import PacketPath, PacketRow, Progress, SeriesRow, Silent, SourceRow
from ..records.table_columns import ALL, Share, TableMeaning, Vector
from ..records.types import Bools, Int64s, UInt8s

if TYPE_CHECKING:
    from ..analysis.fields.field_source_tables import Data
    from ..analysis.stats.call_stacks import Stack
    from ..analysis.stats.statistic_types import Table
    from ..readers import PointPackets

RowIds = npt.NDArray[np.int64]  # n = packet n, -n = row K<n>
TableRows = Mapping[
    str, Bools
]  # chosen rows of documented tables, see session/documented_tables.py


class Subject(Enum):
    """The kinds of things that an export can contain."""

    PACKET = "a packet"
    PACKETS = "packets"  # those that a display filter shows, or all
    TIMELINE = "the timeline"


class Request(NamedTuple):
    """What to export: `row` for a PACKET, `filter` for PACKETS, `shown` for the TIMELINE.

    For a picture of a packet, `shown` also has size, resolution and theme. Long work reports to
    `progress`, through which the user may cancel it. The fields after `progress` are options of
    formats that contain PACKETS.
    """

    row: int | None = None  # n = packet n, -n = row K<n>
    filter: str = ""  # "" is all packets
    shown: Shown = Shown("packet")
    progress: Progress = Silent()
    rows: tuple[int, ...] = ()  # "packet": only these of the packets that match
    times: tuple[int, int] | None = None  # "range": begin <= t < end, session time, ns
    snaplen: int = 0  # "snaplen": the most bytes of a packet, 0 = all
    payload: bool = True  # "payload": False = only headers
    kernel_only: bool = False  # "kernel_only": also packets that only a log holds
    retis: bool = False  # "retis": as `retis pcap` writes packets
    pseudonym_key: bytes = b""  # "pseudonyms": of addresses and host names; b"" = none

    @property
    def title(self) -> str:
        """Return what is exported in words: "packet K1", "tcp.port == 80", "all packets"."""
        if self.row is not None:
            return f"packet {self.row}" if self.row > 0 else f"packet K{-self.row}"
        return self.filter or "all packets"


class ExportableRows(Protocol):
    """The packet list of an open session."""

    def count(self) -> int:
        """Return the number of packets."""

    def kernel_only_count(self) -> int:
        """Return the number of skb lifetimes that have an address but no packet."""

    def all_kernel_only_count(self) -> int:
        """Return kernel_only_count() plus the lifetimes without an address, which are last."""

    def select(self, text: str) -> RowIds | None:
        """Return the rows that match the display filter `text`; None means all packets."""

    def listed(
        self,
        text: str,
        order: tuple[str, bool] | None,
        kernel_only: bool,
        hidden: RowIds | None,
        progress: Progress,
        all_lives: bool = False,
    ) -> RowIds | None:
        """Return the rows that match the display filter `text`, sorted; None means all packets.

        `order` names the field (or a word such as "source") by which rows are sorted, and says
        whether to sort in descending order. `kernel_only` adds rows K<n>; `all_lives` also adds
        rows without an address. Rows in `hidden` are left out. Raises Cancelled.
        """

    def rows(self, ids: RowIds) -> list[PacketRow | SeriesRow]:
        """Return the rows `ids` of the packet list in this order: n is packet n, -n is row K<n>."""


class ExportablePaths(Protocol):
    """The kernel paths of an open session."""

    def path(self, packet: int | None = None, series: int | None = None) -> PacketPath:
        """Return the path of `packet` or, if `packet` is None, of the lifetime `series`.

        Raises KeyError if the path does not exist.
        """


class ExportableContents(Protocol):
    """The captured bytes of an open session's packets."""

    def packet_bytes(self, number: int) -> bytes | None:
        """Return the captured bytes of a packet; None if the capture moved or changed its size."""


class LayerColours(Protocol):
    """A layer and its colours, "#rrggbb"."""

    @property
    def name(self) -> str:
        """Return the name of the layer."""

    @property
    def colour(self) -> str:
        """Return the layer's colour on a light background."""

    @property
    def colour_dark(self) -> str:
        """Return the layer's colour on a dark background."""


class ExportableStacks(Protocol):
    """The call stacks and statistics of an open session."""

    def table(self, name: str, rows: RowIds | None, progress: Progress) -> Table:
        """Return the table `name` of STATISTICS for `rows` (None: all). Raises Cancelled."""

    def stacks(self, rows: RowIds | None, progress: Progress) -> Sequence[Stack]:
        """Return the call stacks of `rows` (None: all).  Raises Cancelled."""


class ExportableList(Protocol):
    """The packet list of an open session as a file, and the data for writing captures."""

    def captured_between(self, packets: RowIds, times: tuple[int, int]) -> RowIds:
        """Return the `packets` captured from begin to before end: `times` (session time, ns)."""

    def first_ns(self) -> int:
        """Return the time (ns since the epoch) at which the Time column is 0."""

    def to_session(self, source: int, ts: Int64s) -> Int64s:
        """Convert the times `ts` (ns) of a source's clock to session time."""

    def field_data(self) -> Data:
        """Return the tables from which the fields of display filters are computed."""

    def capture_bytes(self, source: int) -> UInt8s:
        """Return the bytes of the capture `source`; offsets of packets are positions in it."""

    def point_packets(self, source: int, progress: Progress) -> tuple[PointPackets, UInt8s]:
        """Return the packets with bytes in the retis log `source`, and the decompressed log."""

    def packets_csv(self, text: str, out: Path, progress: Progress) -> None:
        """Write to `out`, as CSV, the rows that match the display filter `text`."""


class ExportableTables(Protocol):
    """The documented tables of an open session."""

    def described(self) -> tuple[TableMeaning, ...]:
        """Return the tables with their columns, in the order of docs/schema.md."""

    def blocks(
        self,
        name: str,
        columns: Sequence[str] | None,
        chosen: TableRows | None,
        progress: Progress,
        share: Share = ALL,
    ) -> Iterator[dict[str, Vector]]:
        """Yield the columns of a table in blocks of rows: at least one block, which may be empty.

        `share` says which part of the blocks to yield; that part may be empty.
        """

    def chosen(self, packets: Int64s, kernel_only: Sequence[int]) -> TableRows:
        """Return the rows that belong to `packets` or to lifetimes of rows `kernel_only`."""


class Exportable(Protocol):
    """The parts of an open session that writers use."""

    @property
    def packets(self) -> ExportableRows:
        """Return the packet list."""

    @property
    def paths(self) -> ExportablePaths:
        """Return the kernel paths."""

    @property
    def stats(self) -> ExportableStacks:
        """Return the statistics."""

    @property
    def export(self) -> ExportableList:
        """Return the part of the session that exports use."""

    @property
    def contents(self) -> ExportableContents:
        """Return the part of the session that reads bytes of packets."""

    def info(self) -> dict[str, Any]:
        """Return counts, matches, losses, clock fits and sources: the JSON of `skbviewer info`."""

    def layers(self) -> Sequence[LayerColours]:
        """Return the layers of the network stack with their colours."""

    @property
    def tables(self) -> ExportableTables:
        """Return the documented tables."""

    def words(self) -> tuple[str, ...]:
        """Return how commands name the open session; see input_files.words()."""

    def sources(self) -> tuple[SourceRow, ...]:
        """Return the input files, in import order."""


Writer = Callable[[Exportable, Request, Path], None]


class Export(NamedTuple):
    """A line of EXPORTS: an export format, and the subjects that a file of this format can contain.

    `write` is None for pictures, which skbviewer.gui paints (see PAINTERS there). `write` raises
    FilterError, BadInput, Cancelled, and KeyError with a line for the user.
    """

    name: str  # the option of the command line, without dashes
    subjects: frozenset[Subject]
    title: str  # in the export dialog
    help: str  # of the option: "write ..."
    suffixes: tuple[str, ...]  # of file names, the usual one first
    write: Writer | None = None
    # of "title", "size", "dpi", "theme"; of PACKETS "packet", "range", "snaplen", "payload",
    # "pseudonyms", "kernel_only", "retis"; "folder": writes one; "report": the rows of --packet are
    # those whose paths are shown; "kernel-only rows": rows K<n> are chosen like packets
    options: frozenset[str] = frozenset()
    menu: str = ""  # the entry of the File menu for the selected packet


def packet_path(recording: Exportable, row: int) -> PacketPath:
    """Return the path of a row of the packet list: n is packet n, -n is row K<n>.

    Raises KeyError if the row does not exist.
    """
    if row > 0:
        return recording.paths.path(row)
    if -row > recording.packets.all_kernel_only_count():
        raise KeyError(f"no packet K{-row}")
    (lifetime,) = recording.packets.rows(np.array([row]))
    assert isinstance(lifetime, SeriesRow)
    return recording.paths.path(series=lifetime.series)
