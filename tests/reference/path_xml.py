# SPDX-License-Identifier: MIT
"""Compute what `path --xml` should contain: nested calls, with the cells of the JSON.

Input: a leg of the XML, and the reference's own.  Output: cells: name, printed, expected.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple
from xml.etree.ElementTree import Element

from .compare import Cell
from .passes import Pass, Row
from .path_output import PathCells
from .rows import Cells

NESTED = ("depth", "parent", "call")  # shown by what is inside what
ADDRESSES = ("skb", "sock")


class _Node(NamedTuple):
    """A call or an event: how deep it is in the leg, and its attributes."""

    tag: str
    level: int
    attributes: dict[str, str]


def of_leg(cells: PathCells, leg: Pass, shown: Element) -> Iterator[Cell]:
    """Compare a leg with all that is inside it."""
    where = f"leg {leg.number} as XML"
    of = cells.of_leg(leg)
    times = {} if of["kernel_ns"] is None else {"kernel_ns": str(of["kernel_ns"])}
    head = {"series": str(leg.series.number + 1), "kind": of["kind"]} | times
    yield where, {key: shown.get(key) for key in head}, head
    yield f"a note instead of the time of {where}", "note" in shown.attrib, not times
    found, should = list(_shown(shown, 0)), list(_expected(cells, leg))
    yield f"calls and events of {where}", len(found), len(should)
    for number, (is_, node) in enumerate(zip(found, should, strict=False)):
        yield f"place {number} of {where}", is_[:2], node[:2]
        every = _known(node.tag)
        attributes = {key: text for key, text in is_.attributes.items() if key in every}
        yield f"attributes of place {number} of {where}", attributes, node.attributes


def _shown(above: Element, level: int) -> Iterator[_Node]:
    for one in above:
        if one.tag in ("call", "event"):
            yield _Node(one.tag, level, dict(one.attrib))
            yield from _shown(one, level + 1)


def _expected(cells: PathCells, leg: Pass) -> Iterator[_Node]:
    inside: dict[int, list[Row]] = {}
    events: dict[int, list[_Node]] = {}
    for row in leg.rows:
        inside.setdefault(row.parent.number if row.parent else 0, []).append(row)
    for event, at in cells.events_of(leg):
        node = _Node("event", at.depth + 1 if at else 0, _texts(cells.of_event(event, at, leg)))
        events.setdefault(at.number if at else 0, []).append(node)
    yield from _below(cells, 0, inside, events)


def _below(
    cells: PathCells, number: int, inside: dict[int, list[Row]], events: dict[int, list[_Node]]
) -> Iterator[_Node]:
    for row in inside.get(number, []):
        yield _Node("call", row.depth, _texts(cells.of_call(row)))
        yield from _below(cells, row.number, inside, events)
    yield from events.get(number, [])


def _texts(cells: Cells) -> dict[str, str]:
    """Return values as attributes; unknown ones are left out."""
    made = {}
    for key, value in cells.items():
        if value is None or value == "" or key in NESTED:
            continue
        if key in ADDRESSES:
            if value or key == "skb":
                made[key] = f"0x{value:x}"
        else:
            made[key] = ("yes" if value else "no") if isinstance(value, bool) else str(value)
    return made


def _known(tag: str) -> frozenset[str]:
    """Return the attributes that the reference computes."""
    event = ("ts_ns", "event", "cpu", "context", "pid", "comm")
    call = (
        "entry_ns", "exit_ns", "dur_ns", "self_ns", "comp_ns", "comp_err_ns", "irq_ns", "off_ns",
        "counter", "cpu", "pid", "function", "caller", "layer", "context", "comm", "skb", "device",
        "tail_call", "sock", "mark", "note",
    )  # fmt: skip
    return frozenset(event if tag == "event" else call)
