# SPDX-License-Identifier: MIT
"""Compute the window's texts about packets: columns, tips, strip, status bar.

Input: what the reference made of a log.  Output: the numbers in texts that the window's models
make.
"""

from __future__ import annotations

import re
import sqlite3
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

from PySide6.QtCore import QModelIndex, Qt

from skbviewer.gui.base.status_text import status_text
from skbviewer.gui.packet_panes.call_columns import CALL_COLUMNS
from skbviewer.gui.packet_panes.call_model import CallModel
from skbviewer.gui.packets.packet_model import PacketModel
from skbviewer.gui.packets.selected_packet_summary import totals
from skbviewer.session import Session

from .calls import Nested
from .compare import EXACT, Cell, Made
from .packet_times import packet
from .passes import Pass, Row
from .path_output import CONTEXTS, PathCells, layer_of
from .rows import CallCells
from .shown_times import WAITS, micros, time_cell
from .spent import NO_TIME
from .tips import of_gaps, of_lanes, of_path, of_tip

KINDS = ("Sending", "Receiving", "Forwarding")
ROLE = Qt.ItemDataRole


class WindowTexts:
    """Compares the texts of models with the reference."""

    def __init__(self, session: Path, made: Made) -> None:
        self._file, self._session, self._made = session, Session(session), made
        self._cells, self._paths = CallCells(made.calls), PathCells(made)
        self._of: dict[int, list[int]] = {}  # legs by packet
        db = sqlite3.connect(session)
        self._verdicts = [row[0] for row in db.execute("SELECT verdict FROM packet ORDER BY id")]
        self._lives = db.execute("SELECT count(*) FROM series WHERE kernel_only > 0").fetchone()[0]
        exact = "SELECT packet, leg FROM match WHERE verdict = ?"
        for number, leg in db.execute(exact, (EXACT,)):
            self._of.setdefault(number, []).append(leg)
        db.close()

    def of_list(self) -> Iterator[Cell]:
        """Yield the columns of the packet list."""
        model = PacketModel()
        model.show(self._session)
        for position in range(model.rowCount()):
            mine = [self._made.legs[leg] for leg in self._of.get(position + 1, [])]
            known = mine and not any(leg.gap for leg in mine)
            found = packet(mine)
            unknown = sum(found[name] for name in NO_TIME)
            times: dict[str, int | None] = {
                "kernel": found["kernel"],
                "busy": found["busy"],
                "waiting": found["kernel"] - found["busy"] - unknown,
            }
            for key, ns in times.items():
                text = model.text(position, model.column_of(key))
                yield time_cell(
                    f"column {key} of packet {position + 1}", text, ns if known else None
                )
            text = model.text(position, model.column_of("functions"))
            count = f"{sum(leg.functions for leg in mine):,}" if known else ""
            yield f"column functions of packet {position + 1}", text, count

    def of_status(self) -> Iterator[Cell]:
        """Yield the status bar."""
        text = status_text(self._session)
        of = Counter(self._verdicts)
        counters = self._made.calls.log.counters
        lost = sum(counters.get(name, 0) for name in ("lost", "missed", "nested"))
        numbers = re.findall(r"Kernel-only: ([\d,]+)(?: \(\+ ([\d,]+))?", text)[0]
        lives = [int(number.replace(",", "")) for number in numbers if number]
        yield "kernel-only lives in the status bar", sum(lives), self._lives
        for word, count in (
            ("Matched", of[0]), ("Ambiguous", of[1]), ("Wire-only", of[2]), ("Lost records", lost),
        ):  # fmt: skip
            yield f"{word} in the status bar", f"{word}: {count:,}" in text, True

    def of_timeline(self) -> Iterator[Cell]:
        """Yield the tips of lanes of all calls, and of lost records."""
        yield from of_lanes(self._session, self._made)
        yield from of_gaps(self._session, self._made)

    def of_paths(self, most: int) -> Iterator[Cell]:
        """Yield the tree of calls with its tips, the strip and the timeline.

        It does so for up to `most` packets.
        """
        for number in sorted(self._of)[:: max(len(self._of) // most, 1)]:
            path = self._session.paths.path(number)
            yield from self._strip(number, totals(path))
            model = CallModel()
            model.show(path)
            legs = [
                self._made.passes.legs[self._paths.leg_at(leg.series, leg.begin_ns) - 1]
                for leg in (*path.legs, *path.branches)
            ]
            zero = legs[0].begin
            yield from of_path(path, legs[: len(path.legs)], self._made, self._paths)
            yield f"legs shown of packet {number}", model.rowCount(), len(legs)
            for at, leg in enumerate(legs):
                top = model.index(at, 0)
                yield from self._leg_title(str(top.data()), leg)
                for place, row in enumerate(leg.rows):
                    index = model.index_of(at, place)
                    yield from self._call(model, index, row, zero)
                yield from self._waits(model, top, leg, zero)

    def _strip(self, number: int, text: str) -> Iterator[Cell]:
        legs = [self._made.legs[leg] for leg in self._of[number]]
        if any(leg.gap for leg in legs):
            return
        found = packet(legs)
        unknown = sum(found[name] for name in NO_TIME)
        wait = found["kernel"] - found["busy"] - unknown
        for word, ns in (("in the kernel", found["kernel"]), ("busy", found["busy"])):
            yield time_cell(f"{word} in the strip of packet {number}", _before(text, word), ns)
        for word, ns in (("waiting", wait), ("unknown", unknown)):
            yield time_cell(f"{word} in the strip of {number}", _before(text, word), ns or None)
        count = sum(leg.functions for leg in legs)
        yield f"functions in the strip of {number}", f", {count:,} function" in text, True

    def _leg_title(self, text: str, leg: Pass) -> Iterator[Cell]:
        made = self._made.legs[leg.number]
        if made.gap:
            return
        yield f"direction of leg {leg.number}", KINDS[leg.kind] in text, True
        device = self._made.calls.log.device(leg.place("netns"), leg.place("ifindex"))
        yield f"device of leg {leg.number}", device in text, True
        count, ns = re.findall(r": ([\d,]+) functions?, ([\d.]+ \w+)", text)[0]
        yield f"functions of leg {leg.number} in its title", count, f"{len(leg.rows):,}"
        yield time_cell(f"time of leg {leg.number} in its title", ns, made.kernel_ns)

    def _call(self, model: CallModel, index: QModelIndex, row: Row, zero: int) -> Iterator[Cell]:
        nested = row.record.of
        assert isinstance(nested, Nested)
        cells, call, log = self._cells.of(row, nested), row.call, self._made.calls.log
        known = {key: None if value == -1 else value for key, value in cells.items()}
        name, footprint = log.functions[call.func], row.record.footprint
        should = {
            "Entry (µs)": micros(call.entry - zero),
            "Duration (µs)": "no exit" if known["dur_ns"] is None else micros(known["dur_ns"]),
            "Self (µs)": micros(known["self_ns"]),
            "Without probes (µs)": micros(known["comp_ns"]),
            "Layer": layer_of(name),
            "CPU": str(call.cpu),
            "Context": CONTEXTS[call.context],
            "Count": "" if known["counter"] is None else f"{known['counter']:,}",
            "Interrupts (µs)": micros(cells["irq_ns"]) if cells["irq_ns"] else "",
            "Device": log.device(footprint.netns, footprint.ifindex),
            "Packet": f"0x{row.skb:x}",
            "Process": f"{log.threads.get(call.pid, '')} [{call.pid}]" if call.pid else "idle",
        }
        for at, column in enumerate(CALL_COLUMNS):
            text = index.siblingAtColumn(at).data()
            if column.title in should:
                yield f"{column.title} of call {row.number}", text, should[column.title]
        yield f"function of call {row.number}", str(index.data()).split("  ")[0], name
        tip = dict(
            line.split(": ", 1)
            for line in index.data(ROLE.ToolTipRole).splitlines()
            if ": " in line
        )
        of = self._paths.of_call(row)
        yield from of_tip(f"call {row.number}", tip, of, zero)

    def _waits(self, model: CallModel, top: QModelIndex, leg: Pass, zero: int) -> Iterator[Cell]:
        """Yield rows of waits, which stand somewhere below the leg."""
        shown = sorted(_waits_below(model, top))
        waits = {
            (micros(begin - zero).replace(",", ""), name): end - begin
            for name, begin, end in self._made.legs[leg.number].waits
        }
        for begin, text, name in shown:
            ns = waits.get((begin.replace(",", ""), name))
            yield time_cell(f"wait {name} at {begin} of leg {leg.number}", text, ns)
        long = [
            key
            for key, ns in waits.items()
            if key[1] not in NO_TIME[1:]
            and (key[1] not in ("other packets", "interrupts", "switched out") or ns >= 10_000)
        ]
        yield f"waits shown of leg {leg.number}", len(shown), len(long)


def _waits_below(model: CallModel, index: QModelIndex) -> Iterator[tuple[str, str, str]]:
    for at in range(model.rowCount(index)):
        below = model.index(at, 0, index)
        found = re.match(r"… \+?(-?[\d.,]+) µs  (?:waited )?([\d.]+ \w+) (.*)", str(below.data()))
        if found:
            yield found[1], found[2], WAITS.get(found[3], found[3])
        yield from _waits_below(model, below)


def _before(text: str, word: str) -> str:
    """Return "76.9 µs" before a word."""
    found = re.search(rf"([\d.]+ (?:ns|µs|ms|s)) {word}", text)
    return found[1] if found else ""
