# SPDX-License-Identifier: MIT
"""The compiled scanner reads what Python's JSON parser reads, or leaves the event to it."""

from __future__ import annotations

import json
import random
from typing import Any

import numpy as np
import pytest

from skbviewer.readers.tracers import event_rows
from skbviewer.readers.tracers.event_rows import CUT, OTHER, POINT, no_rows
from skbviewer.readers.tracers.event_scan import new_shapes, new_state, scan
from tests.fuzz import retis_reader
from tests.readers import build_retis as retis

EVENT = retis.point(10, retis.START, 10, bytes(range(60)))
LINE = json.dumps(EVENT)
MUTATIONS = 1500
PADDING = "\n" * 16  # an event at the end of the text is left to the JSON parser


def kinds(*lines: str) -> list[int]:
    """The kinds of rows of these lines, after a first one."""
    text = np.frombuffer("\n".join(["{}", *lines, PADDING]).encode(), np.uint8).copy()
    rows = no_rows()
    count = scan(text, new_state(), rows, new_shapes())
    return list(map(int, rows.kind[1:count]))


def test_whole_events() -> None:
    assert kinds(LINE, LINE, "", "  ", LINE) == [POINT] * 3
    assert kinds(f"[{LINE}, {LINE}]", f" [ {LINE} ]\r") == [POINT] * 3
    assert kinds("[]", "{}", '{"common": {"timestamp": 3}}') == []


@pytest.mark.parametrize(
    "line",
    [
        LINE[:-1],
        LINE + "}",
        LINE + LINE,
        LINE.replace('"ping"', '"p\\u0069ng"'),
        LINE.replace('"ping"', '"p\u00efng"'),
        LINE.replace('"ping"', "3"),
        LINE.replace('"smp_id": 2', '"smp_id": 2.0'),
        LINE.replace('"smp_id": 2', '"smp_id": 02'),
        LINE.replace('"smp_id": 2', '"smp_id": -1'),
        LINE.replace('"smp_id": 2', '"smp_id": 2, "smp_id": 3'),
        LINE.replace('"smp_id": 2', '"smp_id": null'),
        LINE.replace('"smp_id": 2', f'"smp_id": {1 << 31}'),
        LINE.replace('"kernel"', '"kernel": {}, "kernel"'),
        LINE.replace('"kernel": {', '"kernel": [') + "]",
        LINE.replace('"symbol"', '"symbo"'),
        LINE.replace(f'"skb": {retis.HEAD + 64}', f'"skb": {1 << 64}'),
        LINE.replace(f'"skb": {retis.HEAD + 64}', f'"skb": {10**20}'),
        LINE.replace('"netns"', '"x": tru, "netns"'),
        LINE.replace('"netns"', '"x": [1,], "netns"'),
        LINE.replace('"netns"', '"x": ' + "[" * 40 + "]" * 40 + ', "netns"'),
        json.dumps(retis.startup()),
        "null",
        "NaN",
    ],
)
def test_what_is_left_to_the_json_parser(line: str) -> None:
    assert kinds(line) == [OTHER]
    assert kinds(LINE, line, LINE) == [POINT, OTHER, POINT]  # also where the shape is known


def test_largest_numbers() -> None:
    for value in (0, 9, 10**19, (1 << 64) - 1):
        event = EVENT | {"skb-tracking": {"orig_head": value, "timestamp": value, "skb": value}}
        lines = "\n".join(["{}", json.dumps(event), json.dumps(event), PADDING])
        text = np.frombuffer(lines.encode(), np.uint8).copy()
        rows = no_rows()
        assert scan(text, new_state(), rows, new_shapes()) == 3
        assert rows.numbers[1:3, 3:6].tolist() == [[value] * 3] * 2


def test_an_array_that_is_cut_keeps_its_whole_events() -> None:
    assert kinds(f"[{LINE}, {LINE}", LINE) == [POINT, POINT, CUT, POINT]
    assert kinds(f"[{LINE}, {LINE[:-9]}", LINE) == [POINT, OTHER, POINT]
    assert kinds(f"[{LINE}, {LINE[:-1]}, {LINE}]", LINE) == [POINT, OTHER, POINT]
    assert kinds(f"[{LINE} {LINE}]", LINE) == [POINT, OTHER, POINT]
    assert kinds(f"[17, {LINE}, [1, 2], {LINE}] x") == [OTHER, POINT, OTHER, POINT, OTHER]


def test_shapes_that_alternate() -> None:
    shapes: list[dict[str, Any]] = [EVENT | {f"x{n}": {"a": 1}} for n in range(40)]
    lines = [json.dumps(shapes[n * 7 % 40]) for n in range(400)]
    assert kinds(*lines) == [POINT] * 400


def test_rows_do_not_end_a_block(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(event_rows, "ROWS", 5)
    text = np.frombuffer(f"{{}}\n[{','.join([LINE] * 40)}]{PADDING}".encode(), np.uint8).copy()
    state, shapes, found = new_state(), new_shapes(), 0
    while state[0] < len(text):
        rows = no_rows()
        count = scan(text, state, rows, shapes)
        assert count <= 5
        found += int((rows.kind[:count] == POINT).sum())
    assert found == 40


def test_mutated_logs_are_read_as_the_json_parser_reads_them() -> None:
    choose = random.Random(7)
    for _ in range(MUTATIONS):
        data = bytearray(choose.choice(retis_reader.seeds()))
        for _ in range(choose.randint(1, 4)):
            at = choose.randrange(len(data))
            piece = data[choose.randrange(len(data)) :][: choose.randint(0, 30)]
            new = choose.choice([bytes([choose.randrange(256)]), bytes(piece)])
            data[at : at + choose.randint(0, 3)] = new
        retis_reader.check(bytes(data))
