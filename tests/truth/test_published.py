# SPDX-License-Identifier: MIT
"""Test docs/truth.md: packets of whole logs are counted apart from those of other logs."""

from __future__ import annotations

from collections import Counter

from tests.truth.published import NUMBERS, Cell, publish
from tests.truth.running import log_lacks


def cell(scenario: str, exact: int, lacks: str) -> Cell:
    """A line of the judge's table: an untreated capture of ten packets, all of which differ."""
    counts = dict.fromkeys(NUMBERS, 0) | {"packets": 10, "exact": exact, "right": exact}
    apart = {"apart": 10, "exact apart": exact, "apart by headers": 10}
    return {
        "scenario": scenario,
        "kernel": "6.12",
        "treatment": "none",
        "reasons": Counter[str](),
        "wire-only seen": 0,
        "log lacks": lacks,
        "exact apart by headers": exact,
        **counts,
        **apart,
    }


def test_logs_that_lack_records_have_a_table_of_their_own() -> None:
    cells = [cell("bridge", 10, ""), cell("vlan", 9, ""), cell("lossy", 1, "records")]
    text = publish(cells, seeds=0, rules=17)
    _, whole, other = text.partition("## By treatment")[0].split("what could be exact\n")
    assert "| *all* | 6.12 | 20 | 20 | 95.0 % | 20 | 95.0 % | 0 |" in whole
    assert "lossy" not in whole
    assert "| *all* | 6.12 | 10 | 10 | 10.0 % | 10 | 10.0 % | 0 |" in other


def test_what_a_log_lacks() -> None:
    assert log_lacks("bridge", []) == ""
    assert log_lacks("bridge", [(0, 1)]) == "records"
    assert log_lacks("probes-fifty", []) == "few functions"
