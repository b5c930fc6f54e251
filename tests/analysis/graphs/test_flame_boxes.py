# SPDX-License-Identifier: MIT
"""The layout of flame graphs: widths are sums, boxes lie above their parents, in order of names."""

from __future__ import annotations

import numpy as np
import pytest

from skbviewer.analysis.graphs.flame_boxes import FlameBoxes, Weight, flame_boxes
from skbviewer.analysis.stats import Chosen, call_stacks
from skbviewer.analysis.stats.call_stacks import StackTree
from skbviewer.records import resource
from skbviewer.session import Session, import_files


@pytest.fixture(autouse=True)
def version() -> None:
    """Override the two versions: no log is written here, so one run is enough."""


@pytest.fixture(scope="module")
def session(tmp_path_factory: pytest.TempPathFactory) -> Session:
    capture = resource("samples/bulk") / "bulk.pcap"
    out = tmp_path_factory.mktemp("flame") / "bulk.skbv"
    return Session.open(import_files([capture, capture.with_suffix(".kbl")], out).path)


def made(*nodes: tuple[int, str, int, int]) -> StackTree:
    """A tree of (parent, function, self time, calls)."""
    names = tuple(dict.fromkeys(name for _, name, _, _ in nodes))
    parent, _, own, calls = (np.array(column) for column in zip(*nodes, strict=True))
    function = np.array([names.index(name) for _, name, _, _ in nodes])
    return StackTree(names, parent, function, own, calls, 2 * calls, "cycles")


def listed(boxes: FlameBoxes) -> list[tuple[int, str, int, int]]:
    names = [boxes.names[at] for at in boxes.function]
    columns = (boxes.depth, names, boxes.begin, boxes.total)
    return [(int(d), n, int(b), int(t)) for d, n, b, t in zip(*columns, strict=True)]


TREE = made(
    (-1, "send", 5, 1),
    (-1, "recv", 7, 2),
    (0, "udp", 10, 3),
    (0, "ip", 20, 1),
    (1, "tcp", 0, 4),
    (4, "wake", 3, 1),
    (4, "idle", 0, 9),
)


def test_boxes_by_self_time() -> None:
    assert listed(flame_boxes(TREE, Weight.SELF)) == [
        (0, "recv", 0, 10),
        (0, "send", 10, 35),
        (1, "tcp", 0, 3),
        (1, "ip", 10, 20),
        (1, "udp", 30, 10),
        (2, "wake", 0, 3),
    ]


def test_boxes_by_calls() -> None:
    found = flame_boxes(TREE, Weight.CALLS)
    assert (2, "idle", 0, 9) in listed(found) and found.whole == 21


def test_boxes_by_counter() -> None:
    found = flame_boxes(TREE, Weight.COUNTER)
    assert found.whole == 42 and (2, "idle", 0, 18) in listed(found)


def test_what_is_at_a_place() -> None:
    boxes = flame_boxes(TREE, Weight.SELF)
    assert boxes.stack(boxes.box_at(1, 29.5)) == ("send", "ip")
    assert boxes.stack(boxes.box_at(2, 2.5)) == ("recv", "tcp", "wake")
    for depth, place in ((0, 45.0), (1, 5.0), (2, 3.0), (3, 1.0), (0, -1.0)):
        assert boxes.box_at(depth, place) == -1


def test_the_stacks_of_the_folded_export(session: Session) -> None:
    boxes = flame_boxes(session.graphs.stacks(Chosen()), Weight.SELF)
    ours = {boxes.stack(at): int(ns) for at, ns in enumerate(boxes.self_ns) if ns}
    theirs = {one.functions: one.self_ns for one in call_stacks(session.stats.scope())}
    assert ours == theirs and boxes.whole == sum(theirs.values())


def test_calls_are_those_of_the_functions_table(session: Session) -> None:
    tree = session.graphs.stacks(Chosen())
    calls = np.bincount(tree.function, weights=tree.calls, minlength=len(tree.names))
    table = session.stats.table("functions")
    at = table.keys.index("function"), table.keys.index("number")
    for row in table.rows:
        assert calls[tree.names.index(row[at[0]])] == row[at[1]]


def test_boxes_lie_inside_their_parents(session: Session) -> None:
    boxes = flame_boxes(session.graphs.stacks(Chosen()), Weight.CALLS)
    inner = np.flatnonzero(boxes.parent >= 0)
    outer = boxes.parent[inner]
    assert np.all(boxes.begin[inner] >= boxes.begin[outer])
    ends = boxes.begin + boxes.total
    assert np.all(ends[inner] <= ends[outer])
    same = boxes.depth[1:] == boxes.depth[:-1]
    assert np.all(boxes.begin[1:][same] >= ends[:-1][same])


def test_a_range_cuts_stacks_off(session: Session) -> None:
    """Calls whose callers began before the range are outermost."""
    (packet,) = session.packets.numbered(100, 1)
    tree = session.graphs.stacks(Chosen(None, packet.ts_ns))
    whole = session.graphs.stacks(Chosen())
    boxes = flame_boxes(tree, Weight.CALLS)
    assert 0 < boxes.whole < flame_boxes(whole, Weight.CALLS).whole
    assert np.all(tree.parent < np.arange(len(tree.parent)))


def test_nothing_is_chosen(session: Session) -> None:
    tree = session.graphs.stacks(Chosen(np.zeros(0, np.int64)))
    boxes = flame_boxes(tree, Weight.SELF)
    assert boxes.levels == boxes.whole == 0 and boxes.box_at(0, 0.0) == -1
