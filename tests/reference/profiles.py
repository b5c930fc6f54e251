# SPDX-License-Identifier: MIT
"""Compare call stacks, exported for flame graphs and for speedscope, with the reference.

Input: a session, and what the reference made of its log.  Output: cells: a stack, its ns, expected
ns.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

from .calls import Nested
from .compare import Cell, Made
from .outputs import packets_of, run, wires_of
from .passes import Row
from .path_output import layer_of
from .statistics import Stack, Statistics, stacks


def of_profiles(session: Path, made: Made, folder: Path, most: int) -> Iterator[Cell]:
    """Yield stacks of all packets, and of each of up to `most`, in both formats."""
    yield from _compare(session, folder, "all", Statistics(made, wires_of(session)).stacks())
    legs = packets_of(session)
    for packet in sorted(legs)[:: max(len(legs) // most, 1)]:
        mine = sorted(legs[packet], key=lambda one: (made.legs[one].begin, one))
        rows = [row for number in mine for row in made.passes.legs[number - 1].rows]
        should = stacks(_once(rows), made.calls.log.functions)
        yield from _compare(session, folder, str(packet), should)


def _once(rows: list[Row]) -> Iterator[tuple[Row, Nested]]:
    """Yield each call with its first row."""
    seen: set[int] = set()
    for row in rows:
        nested = row.record.of
        if isinstance(nested, Nested) and id(nested) not in seen:
            seen.add(id(nested))
            yield row, nested


def _compare(session: Path, folder: Path, packet: str, should: dict[Stack, int]) -> Iterator[Cell]:
    chosen = ["--filter", ""] if packet == "all" else ["--packet", packet]
    folded, profile = folder / "a.folded", folder / "a.speedscope.json"
    run("export", str(session), "--folded", str(folded), *chosen)
    run("export", str(session), "--speedscope", str(profile), *chosen)
    yield from _cells(f"folded stacks of {packet}", _folded(folded), should)
    shown = json.loads(profile.read_text("utf-8"))
    frames, (one,) = shown["shared"]["frames"], shown["profiles"]
    found = Counter[Stack]()
    for places, ns in zip(one["samples"], one["weights"], strict=True):
        found[tuple(frames[at]["name"] for at in places)] += ns
    yield from _cells(f"speedscope stacks of {packet}", found, should)
    yield f"speedscope's sum of {packet}", one["endValue"], sum(should.values())
    for frame in frames:
        name = frame["name"]
        yield f"layer of {name} for speedscope", frame["file"], layer_of(name)


def _folded(out: Path) -> Counter[Stack]:
    found = Counter[Stack]()
    for line in out.read_text("utf-8").splitlines():
        names, _, ns = line.rpartition(" ")
        found[tuple(names.split(";"))] += int(ns)
    return found


def _cells(what: str, shown: dict[Stack, int], should: dict[Stack, int]) -> Iterator[Cell]:
    yield f"number of {what}", len(shown), len(should)
    for stack in sorted(shown.keys() | should.keys()):
        yield f"{what}: {';'.join(stack)}", shown.get(stack), should.get(stack)
