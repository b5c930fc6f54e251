# SPDX-License-Identifier: MIT
"""The packet list and the flags of a recording made up in memory."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from skbviewer.analysis.disassembly import Disassembly
from skbviewer.analysis.display_filter import parse
from skbviewer.analysis.dissect import Node, dissect
from skbviewer.analysis.fields.field_source_tables import Data
from skbviewer.analysis.stats import (
    Conversation,
    DropRow,
    Endpoint,
    FunctionRow,
    LayerRow,
    Table,
)
from skbviewer.analysis.streams.stream_payload import Piece
from skbviewer.gui.base.recording_interface import RowIds
from skbviewer.readers import PointPackets
from skbviewer.records import BadInput, PacketRow, Progress, SeriesRow
from skbviewer.records.table_columns import ALL, Share, TableMeaning, Vector
from skbviewer.records.types import Bools, Int64s, UInt8s
from skbviewer.session.kernel.executed_instructions import CountedSteps
from skbviewer.session.kernel.raw_call_records import RawCall
from skbviewer.session.packets.followed_stream import Stream


class FakeList:
    """Rows, filters by a few words, flags.  `size` and `series` are the recording's."""

    size = 0
    series = 0
    unidentified = 2

    def __init__(self) -> None:
        self.asked: list[tuple[int, int]] = []  # rows(): first id, how many
        self.listings: list[tuple[str, tuple[str, bool] | None]] = []
        self.set: dict[str, set[int]] = {}
        self.read_only = False
        self.moved: dict[int, Path] = {}
        self.saved: list[Path] = []

    def packet(self, number: int) -> PacketRow:
        raise NotImplementedError

    def life(self, number: int) -> SeriesRow:
        raise NotImplementedError

    @property
    def file(self) -> Path:
        return Path("/tmp/fake.skbv")

    def words(self) -> tuple[str, ...]:
        return (self.file.name,)

    def rows(self, ids: RowIds) -> list[PacketRow | SeriesRow]:
        self.asked.append((int(ids[0]) if len(ids) else 0, len(ids)))
        found = ids.tolist()
        if not all(-self.all_kernel_only_count() <= n <= self.size and n for n in found):
            raise KeyError("no such row")
        return [self.packet(n) if n > 0 else self.life(-n) for n in found]

    def select(self, text: str) -> RowIds | None:
        return self.listed(text)

    def captured_between(self, packets: RowIds, times: tuple[int, int]) -> RowIds:
        raise NotImplementedError

    def first_ns(self) -> int:
        return 0

    def to_session(self, source: int, ts: Int64s) -> Int64s:
        return ts

    def described(self) -> tuple[TableMeaning, ...]:
        return ()

    def blocks(
        self,
        name: str,
        columns: Sequence[str] | None,
        chosen: Mapping[str, Bools] | None,
        progress: Progress,
        share: Share = ALL,
    ) -> Iterator[dict[str, Vector]]:
        raise KeyError(name)

    def chosen(self, packets: Int64s, kernel_only: Sequence[int]) -> Mapping[str, Bools]:
        return {}

    def field_data(self) -> Data:
        raise NotImplementedError

    def capture_bytes(self, source: int) -> UInt8s:
        raise NotImplementedError

    def point_packets(self, source: int, progress: Progress) -> tuple[PointPackets, UInt8s]:
        raise NotImplementedError

    def listed(
        self,
        text: str = "",
        order: tuple[str, bool] | None = None,
        kernel_only: bool = False,
        hidden: RowIds | None = None,
        progress: Progress | None = None,
        all_lives: bool = False,
    ) -> RowIds | None:
        """Filters: "frame contains 0x...", "frame matches ...",
        "tcp", "udp", "ip.addr ..." (the TCP packets), "frame.number <op> n"."""
        parse(text)
        self.listings.append((text, order))
        ids = np.arange(1, self.size + 1, dtype=np.int64)
        if text.startswith("frame.number"):
            number = int(text.split()[-1])
            ids = {"==": ids[ids == number], ">": ids[ids > number]}[text.split()[1]]
        elif text.startswith("frame "):
            ids = ids[[_holds(self.packet_bytes(n), text) for n in ids.tolist()]]
        elif text:
            wanted = "UDP" if "udp" in text else "TCP"
            names = np.array([self.packet(n).protocol_name for n in ids.tolist()])
            ids = ids[names == wanted]
        if kernel_only:
            lives = self.series + self.unidentified * all_lives
            ids = np.concatenate([ids, -np.arange(1, lives + 1, dtype=np.int64)])
        if hidden is not None:
            ids = ids[~np.isin(ids, hidden)]
        if order is not None:
            rows = self.rows(ids)
            by: dict[str, list[Any]] = {
                "protocol": [str(getattr(row, "protocol_name", "")) for row in rows],
                "frame.number": [int(n) for n in ids],
            }
            keys = by.get(order[0], [row.info for row in rows])
            places = sorted(range(len(ids)), key=keys.__getitem__, reverse=order[1])
            ids = ids[places]
        return ids

    def all_kernel_only_count(self) -> int:
        return self.series + self.unidentified

    def values(self, name: str, ids: Sequence[int]) -> list[str]:
        return [f"{name} {int(n)}" for n in ids]

    def streams_followed(self) -> bool:
        return True

    def follow_streams(self, progress: object) -> None:
        return None

    def texts(self, name: str) -> list[str]:
        return []

    def first_fit(self, texts: Sequence[str], ids: RowIds) -> list[int]:
        names = [
            str(row.protocol_name).lower() if isinstance(row, PacketRow) else ""
            for row in self.rows(ids)
        ]
        words = [set(text.split(" || ")) for text in texts]
        return [next((n for n, known in enumerate(words) if name in known), -1) for name in names]

    def stream(self, number: int, progress: Progress | None = None) -> Stream:
        if number % 4 == 0:
            raise KeyError("no stream")
        ends = ("10.0.0.1:40001", "10.0.0.2:7")
        pieces = (Piece(number, 0, b"hello"), Piece(number + 1, 1, b"hello"))
        return Stream("TCP", f"tcp.stream == {number % 4}", ends, pieces, 2, 0)

    def table(self, name: str, rows: RowIds | None, progress: Progress) -> Table:
        progress.report("Counting", 0, 2)
        if name == "endpoints":
            one = Endpoint("10.0.0.1", None, 5, 500, 3, 300, 2, 200)
            return Table(("kind", *Endpoint._fields), [("IPv4", *one)])
        if name == "functions":
            times = (10_000,) * 5
            slow = FunctionRow._make(
                ["ip_rcv", "ip", 9, 0, 90_500, 800, *times, None, None, 0, 1, 0]
            )
            fast = slow._replace(
                function="tcp_v4_rcv", number=1_000, total_ns=7_000, comp_mean_ns=5
            )
            return Table(FunctionRow._fields, [slow, fast], ("2 calls lie across lost records",))
        if name == "layers":
            row = LayerRow("busy", "ip", 3, 2, *[5_000] * 6)
            return Table(LayerRow._fields, [row, row._replace(kind="wait", layer="qdisc")])
        if name == "conversations":
            first = Conversation(
                "10.0.0.1", 40001, "10.0.0.2", 7, 5, 500, 3, 300, 2, 200, 1, 2, None
            )
            more = first._replace(port_a=9, bytes=70_000, kernel_ns=1_500)
            listed = [more, first] if rows is None else [first]
            return Table(("kind", *first._fields), [("TCP", *row) for row in listed])
        return Table(DropRow._fields, [])

    def raw(
        self, packet: int | None, series: int, leg: int, call: int, progress: Progress | None = None
    ) -> RawCall:
        return RawCall((Node("CALL", 0, 32),), bytes(range(32)))

    def releases(self) -> tuple[str, ...]:
        return ("6.12.0",)

    def is_recorded(self, function: str) -> bool:
        return False

    def disassemble(
        self, function: str, image: Path | None = None, progress: Progress | None = None
    ) -> Disassembly:
        return Disassembly(function, str(image), 0, 0, (), ())

    def executed_steps(self, counts: Path) -> CountedSteps:
        return CountedSteps({}, (), {}, ())

    def counted(self, shown: Disassembly, counts: Path) -> Disassembly:
        return shown

    def detail(self, number: int) -> tuple[Node, ...]:
        return dissect(self.packet_bytes(number) or b"", 1, 64)

    def packet_bytes(self, number: int) -> bytes | None:
        return b"\x00" * 14 + f"packet {number}".encode() + bytes([0xDE, 0xAD, number])

    def flags(self, kind: str) -> RowIds:
        return np.array(sorted(self.set.get(kind, ())), np.int64)

    def set_flags(self, kind: str, rows: RowIds, on: bool = True) -> None:
        if self.read_only:
            raise BadInput(self.file, None, "cannot save the change: read only")
        before = self.set.setdefault(kind, set())
        self.set[kind] = before | set(rows.tolist()) if on else before - set(rows.tolist())

    def save_as(self, out: Path, progress: Progress) -> None:
        out.write_bytes(b"SQLite format 3\x00")
        self.saved.append(out)

    def relocate(self, source: int, path: Path) -> None:
        self.moved[source] = path


def _holds(data: bytes | None, text: str) -> bool:
    """Return whether bytes pass "frame contains 0x..." or "frame matches ..."."""
    word, value = text.removeprefix("frame ").split(" ", 1)
    if word == "contains":
        return bytes.fromhex(value.removeprefix("0x")) in (data or b"")
    pattern = value.removeprefix("r").strip('"')
    return re.search(pattern.encode(), data or b"", re.IGNORECASE | re.DOTALL) is not None
