# SPDX-License-Identifier: MIT
"""Run the commands on a session and compare their output with the reference, cell by cell.

Input: a session, and what the reference made of its log.  Output: cells: name, printed, expected.
"""

from __future__ import annotations

import csv
import io
import json
import re
import sqlite3
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import redirect_stderr, redirect_stdout
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

from skbviewer.cli.main import main

from . import conversations, event_pairs
from .compare import EXACT, Cell, Made
from .packet_times import packet as times_of
from .path_output import PathCells, layer_of
from .path_xml import of_leg
from .segments import Segments
from .slots import Event
from .statistics import Statistics, info
from .tables import RULES, Tables, Wire

TABLES = {
    "functions": ("function",),
    "layers": ("kind", "layer"),
    "drops": ("reason", "function"),
    "processes": ("process",),
}
INTERVALS = (1_000_000, 5_000_000)  # ns
LANES = 100  # packets
SIZE = "3000x30000"  # or lanes below the picture are left out


def run(*arguments: str) -> str:
    """Return a command's output. Raises RuntimeError if it rejects its arguments."""
    out, complaint = io.StringIO(), io.StringIO()
    try:
        with redirect_stdout(out), redirect_stderr(complaint):
            main(list(arguments))
    except SystemExit as end:
        raise RuntimeError(f"{' '.join(arguments)}: {complaint.getvalue()}") from end
    return out.getvalue()


def wires_of(session: Path) -> dict[int, list[int]]:
    """Return by leg the captured packets that certainly belong to it."""
    db, found = sqlite3.connect(session), dict[int, list[int]]()
    for packet, leg in db.execute("SELECT packet, leg FROM match WHERE verdict = ?", (EXACT,)):
        found.setdefault(leg, []).append(packet)
    db.close()
    return found


def packets_of(session: Path) -> dict[int, list[int]]:
    """Return by packet the legs that certainly belong to it."""
    found: dict[int, list[int]] = {}
    for leg, packets in wires_of(session).items():
        for packet in packets:
            found.setdefault(packet, []).append(leg)
    return found


def of_info(session: Path, made: Made) -> Iterator[Cell]:
    """Yield `info --json`."""
    shown = json.loads(run("info", str(session), "--json"))
    for key, value in info(made).items():
        yield f"info: {key}", shown[key], value


def of_statistics(session: Path, made: Made) -> Iterator[Cell]:
    """Yield `stats` of every table but clock, with and without --all."""
    reason, segments = PathCells(made).drop_reason, Segments(session)
    for everything in (False, True):
        of = Statistics(made, wires_of(session), everything)
        tables: dict[str, Callable[[], list[dict[str, Any]]]] = {
            "functions": of.functions,
            "layers": of.layers,
            "drops": lambda of=of: of.drops(reason, segments),  # type: ignore[misc]
            "processes": of.processes,
        }
        for table, make in tables.items():
            every = ["--all"] if everything else []
            shown = json.loads(run("stats", *every, "--json", str(session), table))
            yield from _table(f"stats {table} {every}", TABLES[table], shown, make())


def of_tables(session: Path, made: Made) -> Iterator[Cell]:
    """Yield `stats` of all tables but those of of_statistics(), and clock."""
    of, facts = Tables(made, wires_of(session)), _Facts(session)
    drops = PathCells(made).drop_reason, Segments(session)
    units = of.units(facts.alone)

    def shown(table: str, *more: str) -> list[dict[str, Any]]:
        rows: list[dict[str, Any]] = json.loads(run("stats", "--json", *more, str(session), table))
        return rows

    lines = ("function", "role", "other")
    yield from _table("stats callgraph", lines, shown("callgraph"), of.callgraph())
    keys = ("process", "function")
    yield from _table("stats programs", keys, shown("programs"), of.programs())
    yield from _table("stats latency", ("kind", "name"), shown("latency"), of.latency(units))
    yield from _table("stats paths", ("path",), shown("paths"), of.paths(units, *drops))
    for interval in INTERVALS:
        rows = shown("io", "--interval", str(interval / 1e9))
        should = of.io(facts.packets, units, facts.offset, interval)
        yield from _table(f"stats io {interval}", ("after_ns",), rows, should)
    trips = shown("roundtrip")
    pairs = [(row["packet"], row["acked"]) for row in trips]  # tshark has these
    yield from _table("stats roundtrip", ("packet",), trips, of.roundtrip(pairs))
    yield from _of_events(made, shown)
    yield from _of_ends(session, made, shown)
    findings = shown("expert")
    if all(row["rule"] != "neighbour" for row in findings):  # it explains some of the waits
        found = [row for row in findings if row["rule"] in RULES]
        yield from _table("stats expert", ("rule",), found, of.expert(units))
    time = shown("time")
    busy = [row for row in time if row["kind"] in ("busy", "probes")]
    rest = [row for row in time if row not in busy]
    should = of.time(units)
    own = sum(row["total_ns"] for row in should if row["kind"] == "busy")
    yield "stats time: busy", sum(row["total_ns"] for row in busy), own
    others = [row for row in should if row["kind"] != "busy"]
    yield from _table("stats time", ("kind", "part"), rest, others)


def _of_events(made: Made, shown: Callable[[str], list[dict[str, Any]]]) -> Iterator[Cell]:
    """Yield `stats` of interrupts and system calls."""
    log, of = made.calls.log, [record.of for record, _, _ in made.passes.events]
    events = [event for event in of if isinstance(event, Event)]
    should = event_pairs.interrupts(log, events)
    keys: tuple[str, ...] = ("kind", "name", "cpu")
    yield from _table("stats interrupts", keys, shown("interrupts"), should)
    keys = ("process", "syscall")
    yield from _table("stats syscalls", keys, shown("syscalls"), event_pairs.syscalls(log, events))


def _of_ends(
    session: Path, made: Made, shown: Callable[[str], list[dict[str, Any]]]
) -> Iterator[Cell]:
    """Yield `stats` of conversations and endpoints; tshark has their begins and durations."""
    kernel: dict[int, int | None] = {}
    for number, legs in packets_of(session).items():
        mine = [made.legs[leg] for leg in legs]
        kernel[number] = None if any(leg.gap for leg in mine) else times_of(mine)["kernel"]
    packets = conversations.captured(session)
    rows = [conversations.shown_conversation(row) for row in shown("conversations")]
    should = conversations.conversations(packets, kernel)
    yield from _table("stats conversations", ("kind", "ends"), rows, should)
    keys = ("kind", "address", "port")
    yield from _table("stats endpoints", keys, shown("endpoints"), conversations.endpoints(packets))


class _Facts:
    """What the tables take from a session with one log and one capture."""

    def __init__(self, session: Path) -> None:
        db = sqlite3.connect(session)
        log = db.execute("SELECT id FROM source WHERE kind = 'kbl'").fetchone()[0]
        offset = "SELECT offset_ns FROM timebase WHERE source = ?"
        self.offset: int = db.execute(offset, (log,)).fetchone()[0]
        # A clock that was set has several pieces; each holds from its first packet on.
        packets = """
            SELECT packet.id, packet.len, packet.ts, timebase.offset_ns, timebase.drift_ppm,
                timebase.begin_ns, max(timebase.first)
            FROM packet JOIN timebase ON timebase.source = packet.source
                AND timebase.first <= packet.id
                AND timebase.interface IN (-1, packet.interface)
            GROUP BY packet.id ORDER BY packet.id"""
        self.packets = [
            Wire(number, ts + off + round((ts - begin) * (drift * 1e-6)), size)
            for number, size, ts, off, drift, begin, _ in db.execute(packets)
        ]
        self.alone: dict[int, list[int]] = {}
        rows = """SELECT series.kernel_only, leg.id FROM leg JOIN series ON series.id = leg.series
                  WHERE series.kernel_only > 0 AND series.identity >= 0"""
        for number, leg in db.execute(rows):
            self.alone.setdefault(number, []).append(leg)
        db.close()


def _table(
    what: str, keys: tuple[str, ...], shown: list[dict[str, Any]], should: list[dict[str, Any]]
) -> Iterator[Cell]:
    rows = {tuple(row[key] for key in keys): row for row in shown}
    names = (tuple(row[key] for key in keys) for row in should)
    yield f"rows of {what}", sorted(rows, key=str), sorted(names, key=str)
    for row in should:
        name = tuple(row[key] for key in keys)
        for key, value in row.items():
            yield f"{what}: {key} of {name}", rows.get(name, {}).get(key), value


def of_paths(session: Path, made: Made, most: int) -> Iterator[Cell]:
    """Yield `path` of up to `most` packets, as JSON and XML, and of as many lifetimes, as JSON."""
    cells, legs = PathCells(made), packets_of(session)
    for packet in sorted(legs)[:: max(len(legs) // most, 1)]:
        shown = json.loads(run("path", str(session), "--json", "--packet", str(packet)))
        found = [cells.leg_at(leg["series"], leg["begin_ns"]) for leg in shown["legs"]]
        begins = sorted(legs[packet], key=lambda one: (made.legs[one].begin, one))
        yield f"legs of packet {packet}", found, begins
        for leg in (*shown["legs"], *shown["branches"]):
            yield from cells.compare(leg)
        root = ElementTree.fromstring(run("path", str(session), "--xml", "--packet", str(packet)))
        yield f"legs of packet {packet} as XML", len(root.findall("leg")), len(begins)
        for node, number in zip(root.findall("leg"), begins, strict=False):
            yield from of_leg(cells, made.passes.legs[number - 1], node)
    series = sorted({leg.series for leg in made.legs.values()})
    for number in series[:: max(len(series) // most, 1)]:
        shown = json.loads(run("path", str(session), "--json", "--series", str(number)))
        mine = [n for n, leg in made.legs.items() if leg.series == number]
        found = [cells.leg_at(leg["series"], leg["begin_ns"]) for leg in shown["legs"]]
        yield f"legs of packet life {number}", found, mine
        for leg in shown["legs"]:
            yield from cells.compare(leg)


def of_timeline(session: Path, made: Made, folder: Path) -> Iterator[Cell]:
    """Yield the timeline's boxes as CSV, in lanes by CPU and by packet."""
    out = folder / "timeline.csv"
    run("export", str(session), "--csv", str(out), "--lanes", "cpu", "--size", SIZE)
    boxes = _boxes(out)
    calls = {id(row.record.of): row for row in reversed(made.passes.rows) if not _is_further(row)}
    shown = Counter(f"CPU {row.call.cpu}" for row in calls.values())
    shown += Counter(f"CPU {row.call.cpu}" for row in made.passes.rows if _is_further(row))
    counted = Counter[str]()
    for box in boxes:
        counted[box["lane"]] += int(box["count"])
    yield "boxes by lane", {k: n for k, n in counted.items() if k.startswith("CPU")}, dict(shown)
    yield from _alone(boxes, made)
    of_packet = Counter[str]()
    for leg, packets in wires_of(session).items():
        for packet in packets:
            of_packet[str(packet)] += len(made.passes.legs[leg - 1].rows)
    chosen = sorted(of_packet, key=int)[:LANES]
    while chosen:
        lanes_of = "--lanes", "packet", "--packet", ",".join(chosen)
        run("export", str(session), "--csv", str(out), *lanes_of, "--size", SIZE)
        boxes = _boxes(out)
        lanes = Counter[str]()
        for box in boxes:
            lanes[box["lane"].split(" ")[0]] += int(box["count"])
        drawn = chosen[: max(len(chosen) - _left_out(out), 1)]
        for number in drawn:
            yield f"boxes of packet {number}", lanes[number], of_packet[number]
        yield "lanes with boxes", sorted(lanes, key=int), [n for n in drawn if of_packet[n]]
        yield from _alone(boxes, made)
        chosen = chosen[len(drawn) :]


def _left_out(out: Path) -> int:
    """Return how many lanes had no room; the table states this number."""
    table = out.read_text("utf-8")
    left = re.search(r"^# Not drawn for want of height: the last (\d+)", table, re.M)
    return int(left[1]) if left else 0


def _is_further(row: Any) -> bool:
    return bool(row.record.carried >= 0)


def _boxes(out: Path) -> list[dict[str, str]]:
    lines = [line for line in out.read_text("utf-8").splitlines() if not line.startswith("#")]
    return list(csv.DictReader(lines))


def _alone(boxes: list[dict[str, str]], made: Made) -> Iterator[Cell]:
    """Yield boxes of one call: which function, how long, and all by one clock."""
    offsets = set()
    for box in boxes:
        if not box["call"]:
            continue
        row = made.passes.rows[int(box["call"]) - 1]
        function = made.calls.log.functions[row.call.func]
        end = row.call.entry if row.call.end is None else row.call.end
        offsets.add(int(box["begin_ns"]) - row.call.entry)
        lasts = int(box["end_ns"]) - int(box["begin_ns"])
        shown = box["function"], box["layer"], int(box["dur_ns"]), lasts
        dur = end - row.call.entry
        yield f"box of call {row.number}", shown, (function, layer_of(function), dur, dur)
    yield "clocks of boxes", len(offsets), min(len(offsets), 1)
