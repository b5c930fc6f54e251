# SPDX-License-Identifier: MIT
"""A recording made up in memory: what views are tested against, apart from readers and store."""

from __future__ import annotations

import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from skbviewer.analysis.graphs.io_graph_series import IoSeries
from skbviewer.analysis.stats import Chosen
from skbviewer.analysis.stats.call_stacks import StackTree
from skbviewer.matching import RULES
from skbviewer.records import (
    Annotation,
    BadInput,
    Leg,
    PacketPath,
    PacketRow,
    PathCall,
    Progress,
    SeriesRow,
    SourceKind,
    SourceRow,
    Wait,
)
from skbviewer.session.kernel.verdict_counts import Reason

from .fake_list import FakeList
from .fake_timeline import FakeTimeline

T0 = 1_700_000_000_000_000_000
KBL_T0 = 81_000_000_000
WHY = "one candidate by addresses, id and protocol"
MATCHED = 40  # packets 1..40 have legs, the rest are wire-only
TX = (
    ("__ip_queue_xmit", "ip", 0, 0, 30_000),
    ("ip_local_out", "ip", 1, 600, 28_500),
    ("nf_hook_slow", "netfilter", 2, 900, 1_500),
    ("ip_output", "ip", 2, 2_800, 26_000),
    ("ip_finish_output2", "ip", 3, 3_300, 25_100),
    ("__dev_queue_xmit", "link", 4, 4_000, 24_000),
    ("dev_hard_start_xmit", "link", 5, 5_000, 22_000),
    ("veth_xmit", "driver", 6, 6_500, 19_000),
)
RX = (
    ("__netif_receive_skb_core", "link", 0, 0, 9_000),
    ("ip_rcv", "ip", 1, 700, 7_900),
    ("nf_hook_slow", "netfilter", 2, 1_000, 800),
    ("tcp_v4_rcv", "transport", 2, 2_500, 5_600),
    ("tcp_rcv_established", "transport", 3, 3_000, None),
    ("kfree_skb_reason", "memory", 4, 4_200, 300),
)


class Style(NamedTuple):
    name: str
    colour: str
    colour_dark: str


STYLES = (
    Style("driver", "#7a4a1d", "#c08a55"),
    Style("link", "#0072b2", "#4ea5dc"),
    Style("ip", "#009e73", "#35c79a"),
    Style("netfilter", "#d55e00", "#ff8a4c"),
    Style("transport", "#e69f00", "#ffc04d"),
    Style("memory", "#777777", "#aaaaaa"),
)


def calls(table: Sequence[tuple[str, str, int, int, int | None]], t0: int) -> tuple[PathCall, ...]:
    made: list[PathCall] = []
    for name, layer, depth, begin, dur in table:
        parents = [at for at, call in enumerate(made) if call.depth == depth - 1]
        note = "no exit recorded" if dur is None else ""
        if name.startswith("kfree"):
            note = "drop: NO_SOCKET"
        made.append(
            PathCall(
                function=name,
                caller=f"{made[parents[-1]].function if parents else 'tcp_write_xmit'}+0x4c",
                layer=layer,
                depth=depth,
                parent=parents[-1] if parents else -1,
                entry_ns=t0 + begin,
                exit_ns=None if dur is None else t0 + begin + dur,
                dur_ns=dur,
                self_ns=None if dur is None else dur // 3,
                cpu=1,
                context="softirq" if table is RX else "task",
                pid=412,
                comm="client",
                skb=0xFFFF888003A1C500,
                device="veth-c",
                tail_call=name == "ip_output",
                note=note,
            )
        )
    return tuple(made)


def legs(t0: int) -> tuple[Leg, ...]:
    waits = (Wait("qdisc", t0 + 31_000, 4_000),)
    tx, rx = calls(TX, t0), calls(RX, t0 + 36_000)
    clock: dict[str, Any] = {
        "session_offset_ns": T0 - KBL_T0,
        "wire_ns": t0 + 29_000,
        "wire_error_ns": 850,
    }
    return (
        Leg(
            1, "tx", "exact", WHY, t0, t0 + 30_000, 30_000, 8, (), tx, 4026532177, "veth-c", **clock
        ),
        Leg(
            2,
            "rx",
            "exact",
            WHY,
            t0 + 36_000,
            t0 + 45_000,
            9_000,
            6,
            waits,
            rx,
            4026532240,
            "veth-s",
            **clock,
        ),
    )


class FakeGraphs:
    """Graphs of nothing."""

    def io(self, chosen: Chosen, texts: Sequence[str], progress: Progress) -> list[IoSeries]:
        return []

    def latencies(self, chosen: Chosen, progress: Progress) -> None:
        return None

    def paths(self, chosen: Chosen, progress: Progress) -> None:
        return None

    def stacks(self, chosen: Chosen, progress: Progress) -> StackTree:
        nothing = np.zeros(0, np.int64)
        return StackTree((), nothing, nothing, nothing, nothing, nothing)

    def round_trips(self, chosen: Chosen, progress: Progress) -> None:
        return None


class FakeRecording(FakeList, FakeTimeline):
    """`count` packets, the first MATCHED of them with a sending and a receiving leg."""

    def __init__(
        self, count: int = 60, series: int = 3, kinds: Sequence[str] = ("pcap", "kbl")
    ) -> None:
        FakeList.__init__(self)
        FakeTimeline.__init__(self)
        self.clock_ns = T0 - KBL_T0
        self.size, self.series, self.kinds = count, series, kinds
        self.closed = False
        self.warnings: list[str] = []
        self.inner = True  # the last argument of show_inner()

    def show_inner(self, shown: bool) -> None:
        self.inner = shown

    # The parts of a session: this object is each of them.

    @property
    def packets(self) -> FakeRecording:
        return self

    @property
    def fields(self) -> FakeRecording:
        return self

    @property
    def contents(self) -> FakeRecording:
        return self

    @property
    def code(self) -> FakeRecording:
        return self

    @property
    def paths(self) -> FakeRecording:
        return self

    @property
    def timeline(self) -> FakeRecording:
        return self

    @property
    def notes(self) -> FakeRecording:
        return self

    @property
    def stats(self) -> FakeRecording:
        return self

    @property
    def graphs(self) -> FakeGraphs:
        return FakeGraphs()

    @property
    def export(self) -> FakeRecording:
        return self

    @property
    def tables(self) -> FakeRecording:
        return self

    def close(self) -> None:
        self.closed = True

    def sources(self) -> tuple[SourceRow, ...]:
        return tuple(
            SourceRow(
                at, f"/tmp/handshake.{kind}", SourceKind(kind), 9000, f"{at}" * 64, 60, (), {}
            )
            for at, kind in enumerate(self.kinds, 1)
        )

    def info(self) -> dict[str, Any]:
        matches = {"exact": 40, "ambiguous": 1, "wire_only": 19, "kernel_only": self.series}
        segment = {"offset_ns": T0 - KBL_T0, "drift_ppm": 0.0, "residual_ns": 850, "pairs": 40}
        clock = [{"source": 1, "kbl": 2, "segments": [segment]}]
        return {
            "packets": self.size,
            "calls": 14 * MATCHED,
            "recorder": {"written": 900, "lost": 0},
            "matches": matches,
            "lost_records": 0,
            "clock": clock,
            "warnings": self.warnings,
        }

    def rules(self) -> int:
        return RULES

    def reasons(self) -> list[Reason]:
        return [Reason("exact", WHY, 40), Reason("wire-only", "Nothing carries it.", 19)]

    def count(self) -> int:
        return self.size

    def packet(self, number: int) -> PacketRow:
        name = ("TCP", "UDP", "ICMP", "ARP")[0 if number < 4 else number % 4]
        info = {
            "TCP": "47312 → 8080 [SYN] Seq=0 Win=64240 Len=0"
            if number < 3
            else "47312 → 8080 [ACK] Seq=1",
            "UDP": "5353 → 9000 Len=32",
            "ICMP": "Echo (ping) request id=0x1, seq=1",
            "ARP": "Who has 10.0.0.2? Tell 10.0.0.1",
        }[name]
        matched = number <= MATCHED
        verdict = ("ambiguous" if number == 7 else "exact") if matched else "wire-only"
        return PacketRow(
            number, T0 + number * 1_234_567, 74, 74, 1, 1, number, "10.0.0.1", "10.0.0.2", number,
            6, 47312, 8080, info, verdict, 0.62 if number == 7 else None,
            39_000 if matched else None, 14 if matched else None,
            WHY if matched else "no kernel record has this identity", name, "10.0.0.1", "10.0.0.2",
            "client [412]" if matched else "", "NO_SOCKET" if number == 9 else "",
        )  # fmt: skip

    def numbered(self, first: int, count: int) -> list[PacketRow]:
        self.asked.append((first, count))
        return [self.packet(n) for n in range(first, min(first + count, self.size + 1))]

    def kernel_only_count(self) -> int:
        return self.series

    def kernel_only(self, first: int, count: int) -> list[SeriesRow]:
        return [self.life(n) for n in range(first, min(first + count, self.series + 1))]

    def life(self, number: int) -> SeriesRow:
        return SeriesRow(
            number, f"K{number}", KBL_T0 + number * 1000, "10.0.0.9", "10.0.0.1", number, 17,
            "sport 53", 9_000, 6, "no packet of the capture has this identity", "named [53]",
            "NO_SOCKET", time_ns=T0 + number * 1000,
        )  # fmt: skip

    def path(self, packet: int | None = None, series: int | None = None) -> PacketPath:
        if packet is None:
            return PacketPath(None, (legs(KBL_T0)[1]._replace(wire_ns=None),))
        t0 = KBL_T0 + packet * 1_234_567
        if packet > MATCHED:
            return PacketPath(self.packet(packet), ())
        return PacketPath(self.packet(packet), legs(t0))

    def all(self, kind: str | None = None) -> list[Annotation]:
        return [note for note in self.kept if kind in (None, note.kind)]

    def layers(self) -> tuple[Style, ...]:
        return STYLES


def opener(paths: Sequence[Path], progress: Progress, keep: Sequence[Path] = ()) -> FakeRecording:
    """Opens by name: "bad..." is bad input, "slow..." reports until cancelled, suffixes count."""
    for path in paths:
        if path.name.startswith("bad"):
            raise BadInput(path, 24, "not a capture: unknown magic 0x12345678")
        for done in range(600 if path.name.startswith("slow") else 3):
            progress.report(f"Reading {path.name}", done, 600)
            if path.name.startswith("slow"):
                time.sleep(0.02)
    if [path.suffix for path in paths] == [".skbv"]:
        return FakeRecording()
    kinds = ["kbl" if path.suffix == ".kbl" else "pcap" for path in paths]
    return FakeRecording(count=60 if "pcap" in kinds else 0, kinds=kinds)
