# SPDX-License-Identifier: MIT
"""Stacks of two recordings: each with its time in both, for as many passes."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from skbviewer.analysis.comparison import StackPair, stack_pairs
from skbviewer.export.differential_stacks import write_folded_pairs, write_profile_pair
from skbviewer.records import BadInput
from tests.analysis.comparison.test_path_classes import FLAT, PLAIN, session_of


def test_pairs_are_scaled_to_the_passes_of_b(tmp_path: Path) -> None:
    scopes = []
    for number, packets in enumerate(((PLAIN,), (PLAIN, FLAT))):
        folder = tmp_path / str(number)
        folder.mkdir()
        scopes.append(session_of(folder, *packets).stats.scope())
    root = "__netif_receive_skb"
    found = {pair.functions: pair[1:] for pair in stack_pairs(scopes[0], scopes[1])}
    assert found == {
        (root,): (2 * 200, 200 + 350),
        (root, "ip_rcv"): (2 * 200, 200 + 50),
        (root, "ip_rcv", "udp_rcv"): (2 * 500, 500),
        (root, "udp_rcv"): (0, 500),
    }


PAIRS = [StackPair(("a",), 10, 0), StackPair(("a", "b"), 5, 7)]


def test_folded(tmp_path: Path) -> None:
    out = tmp_path / "x.folded"
    write_folded_pairs(PAIRS, out)
    assert out.read_text() == "a 10 0\na;b 5 7\n"
    assert [path.name for path in tmp_path.iterdir()] == ["x.folded"]


def test_speedscope(tmp_path: Path) -> None:
    out = tmp_path / "x.json"
    write_profile_pair(PAIRS, ("one.skbv", "two.skbv"), out)
    found = json.loads(out.read_text())
    names = [frame["name"] for frame in found["shared"]["frames"]]
    assert names == ["a", "b"]
    assert [profile["name"] for profile in found["profiles"]] == ["A: one.skbv", "B: two.skbv"]
    assert [profile["weights"] for profile in found["profiles"]] == [[10, 5], [7]]
    assert found["profiles"][1]["samples"] == [[0, 1]]


def test_a_file_that_cannot_be_written(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match="cannot write"):
        write_folded_pairs(PAIRS, tmp_path / "none" / "x.folded")
