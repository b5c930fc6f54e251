# SPDX-License-Identifier: MIT
"""Test the line above the panes, which summarises a packet's legs."""

from __future__ import annotations

from skbviewer.gui.packets.selected_packet_summary import totals
from tests.export.paths import path


def test_candidates_are_counted_but_not_summed_up() -> None:
    whole = path()
    (leg,) = whole.legs
    maybe = leg._replace(match="ambiguous", kernel_ns=5_000_000, functions=9)
    assert "5." not in totals(whole) and totals(whole).endswith("1 leg")
    text = totals(whole._replace(legs=(leg, maybe)))
    assert text == f"{totals(whole)} and 1 candidate"
    assert totals(whole._replace(legs=(maybe, maybe))) == "2 candidates"


def test_a_life_is_its_own_whatever_packets_it_may_be() -> None:
    whole = path()
    legs = (whole.legs[0]._replace(match="ambiguous"),)
    assert totals(whole._replace(packet=None, legs=legs)) == totals(whole)
