# SPDX-License-Identifier: MIT
"""The timeline of a recording made up in memory."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np

from skbviewer.analysis.diagnosis import Diagnosis
from skbviewer.analysis.stats import Chosen, Stack
from skbviewer.analysis.stats.time_in_kernel_table import TimeTable
from skbviewer.analysis.timeline.function_numbers import Functions, layer_names
from skbviewer.analysis.timeline.lanes import (
    ALIGNED,
    PACKET_KINDS,
    WIRE,
    Lane,
    Part,
    Timeline,
    Wire,
    align,
    assemble,
)
from skbviewer.analysis.timeline.pixel_bins import DROP, OPEN
from skbviewer.analysis.timeline.session_overview import BINS, Gap, Overview
from skbviewer.gui.base.recording_interface import RowIds
from skbviewer.records import Annotation, NotePlace, PacketPath, PathCall, Progress
from skbviewer.session.kernel.call_positions_in_path import CallPlace

GAP = (20_000_000, 24_000_000)  # ns since t0
NAMES = Functions(
    {1: dict(enumerate(("ip_rcv", "ip_output", "veth_xmit", "tcp_v4_rcv", "kfree_skb_reason")))}
)


class FakeTimeline:
    """What the timeline asks; `of` and `matched` are the recording's."""

    matched = 40
    clock_ns = 0  # from the KBL's clock to session time

    def __init__(self) -> None:
        self.kept: list[Annotation] = []

    def path(self, packet: int | None = None, series: int | None = None) -> PacketPath:
        raise NotImplementedError

    def _calls(self) -> list[tuple[int, int, int, PathCall]]:
        """Return (packet, leg, call, what) of everything; its place + 1 is the call's id."""
        found = []
        for packet in range(1, self.matched + 1):
            for leg, whole in enumerate(self.path(packet=packet).legs):
                for at, call in enumerate(whole.calls):
                    found.append((packet, leg, at, call))
        return found

    def _bounds(self) -> tuple[int, int]:
        calls = [call for *_, call in self._calls()]
        begin = min(call.entry_ns for call in calls) + self.clock_ns
        return begin, max(call.entry_ns for call in calls) + self.clock_ns + 100_000

    def overview(self, progress: Progress | None = None) -> Overview:
        begin, end = self._bounds()
        span = end - begin
        calls, packets = np.zeros(BINS, np.int64), np.zeros(BINS, np.int64)
        for *_, call in self._calls():
            calls[(call.entry_ns + self.clock_ns - begin) * BINS // span] += 1
        packets[::50] = 1
        gap = Gap(*GAP, 1, 2, 12, 1)
        return Overview(begin, span, calls, packets, (gap,), np.array([span // 4], np.int64))

    def lanes(
        self, kind: str, ids: Sequence[int] = (), progress: Progress | None = None
    ) -> Timeline:
        bounds = self._bounds()
        calls = [
            (at, packet, call)
            for at, (packet, _, _, call) in enumerate(self._calls())
            if kind not in PACKET_KINDS or packet in ids
        ]
        layers = {name: number for number, name in enumerate(layer_names())}
        count = len(calls)
        begin = np.array([c.entry_ns + self.clock_ns - bounds[0] for *_, c in calls], np.int64)
        dur = np.array([c.dur_ns or 0 for *_, c in calls], np.int64)
        look = np.array([layers[c.layer] for *_, c in calls], np.uint8)
        look[[c.dur_ns is None for *_, c in calls]] |= OPEN
        look[[c.note.startswith("drop") for *_, c in calls]] |= DROP
        name = np.array([_name(c.function) for *_, c in calls], np.uint16)
        item = np.array([at for at, *_ in calls], np.int64)
        lane = np.zeros(count, np.int64)
        lanes = [Lane("CPU 1", 0, 0, "calls", 1, 2)]
        wires: list[Wire] = []
        if kind in PACKET_KINDS:
            lane = np.array([list(ids).index(packet) for _, packet, _ in calls], np.int64)
            lanes = [Lane(f"{n}", 0, 0, "calls", n, 1) for n in ids]
            wires = [
                Wire(at, n, self._wire(n) - bounds[0], 850)
                for at, n in enumerate(ids)
                if 0 < n <= self.matched
            ]
        order = np.lexsort((begin, lane))
        part = Part(*(c[order] for c in (lane, begin, dur, look, item, name)))  # type: ignore[arg-type]  # one of each
        parts: list[tuple[Part, list[Lane]]] = [(part, lanes)]
        if kind not in PACKET_KINDS:
            at = np.array([self._wire(n) - bounds[0] for n in range(1, self.matched + 1)], np.int64)
            zero = np.zeros(len(at), np.int64)
            wire = Part(
                zero,
                at,
                zero,
                (zero + WIRE).astype(np.uint8),
                np.arange(len(at)),
                zero.astype("u2"),
            )
            parts.insert(0, (wire, [Lane("wire: x.pcap", 0, 0, "wire", 1, 1, 850)]))
        if kind == ALIGNED:
            moved, marks, _, end = align(part, len(lanes), wires)
            return assemble(kind, (0, end), [(moved, lanes)], NAMES.names, marks)
        return assemble(kind, bounds, parts, NAMES.names, tuple(wires))

    def _wire(self, packet: int) -> int:
        leg = self.path(packet=packet).legs[0]
        assert leg.wire_ns is not None
        return leg.wire_ns + self.clock_ns

    def call_place(self, call: int) -> CallPlace:
        packet, leg, at, _ = self._calls()[call - 1]
        path = self.path(packet=packet)
        return CallPlace(path, packet, path.legs[leg].series, leg, at)

    def call_number(self, packet: int | None, series: int, leg: int, call: int) -> int:
        places = [one[:3] for one in self._calls()]
        return places.index((packet or 0, leg, call)) + 1

    def keep(self, note: Annotation) -> Annotation:
        if note.id:
            self.kept = [note if one.id == note.id else one for one in self.kept]
            return note
        kept = note._replace(id=max((one.id for one in self.kept), default=0) + 1)
        self.kept.append(kept)
        return kept

    def remove(self, note: int) -> None:
        self.kept = [one for one in self.kept if one.id != note]

    def note_places(self) -> list[NotePlace]:
        return [NotePlace(note, *self._note_time(note)) for note in self.kept]

    def _note_time(self, note: Annotation) -> tuple[int, int]:
        if note.call is not None:
            call = self._calls()[note.call - 1][3]
            begin = call.entry_ns + self.clock_ns
            return begin, begin + (call.dur_ns or 0)
        if note.packet is not None:
            at = self._wire(note.packet)
            return at, at
        return (note.begin_ns or 0) + self.clock_ns, (note.end_ns or 0) + self.clock_ns

    def range_filter(self, times: tuple[int, int]) -> str:
        return f"frame.time_epoch >= {times[0]}"

    def packets_csv(self, text: str, out: Path, progress: Progress) -> None:
        out.write_text(text)

    def row_of_leg(self, leg: int) -> int:
        return 1

    def row_of_event(self, event: int) -> int:
        return 1

    def diagnosis(self, chosen: Chosen | None, ids: RowIds | None, progress: Progress) -> Diagnosis:
        return Diagnosis((), (), TimeTable((), 0))

    def prepare(self, progress: Progress) -> None:
        """Nothing is read from files."""

    def stacks(self, rows: RowIds | None, progress: Progress) -> list[Stack]:
        return [Stack(("ip_rcv", "tcp_v4_rcv"), 100)]

    def range_note(self, text: str, times: tuple[int, int]) -> Annotation:
        begin, end = (at - self.clock_ns for at in times)
        return Annotation("range_note", text, source=2, begin_ns=begin, end_ns=end)


def _name(function: str) -> int:
    return NAMES.names.index(function) if function in NAMES.names else 0
