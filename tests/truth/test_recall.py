# SPDX-License-Identifier: MIT
"""Test the alternatives that are found for a packet that is not exact."""

from __future__ import annotations

from tests.truth.judge import Origin, Witnessed
from tests.truth.judge_join import Join
from tests.truth.judge_witness import Hit, Row, Witness
from tests.truth.recall import Seen, unanimous

from .test_judge_join import OFFSET, frame, hit

NOBODY = Witness({}, {}, False, {}, [])
TWIN = "another packet with the same headers may have its moment"
MERGED = "packets of several devices as one, another one has its headers"


def why(after_ns: int, interface: int) -> str:
    """The reason for a packet that an interface has again `after_ns` later, at another device."""
    one = frame(0)
    two = one._replace(ts=one.ts + after_ns)
    places = [
        Witnessed([it], [_at(it.ts, device)], Join([0], [""]), 0)
        for device, it in enumerate((one, two))
    ]
    origins = [Origin(places[0], 0, 0), Origin(places[1], 0, interface)]
    seen = Seen("merged", [], origins, 1_000, [])
    return unanimous([0], seen, NOBODY)[0]


def _at(ts: int, device: int) -> Hit:
    row: Row = hit(0, frame(0), linear=True).row
    row = row._replace(ns=ts - OFFSET, values={**row.values, "if": device})
    return Hit(row, row.skb, row.ns, False)


def test_a_merged_file_has_a_packet_of_each_device() -> None:
    assert why(40_000, 0) == TWIN


def test_a_merged_file_may_be_of_a_host_that_is_not_recorded() -> None:
    assert why(60_000, 0) == MERGED


def test_another_interface_is_no_twin() -> None:
    assert why(40_000, 1) == ""
