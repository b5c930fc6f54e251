# SPDX-License-Identifier: MIT
"""Legs that are of several packets, because captures at several devices have the same skb."""

from __future__ import annotations

from typing import Any, cast

import numpy as np
import pytest

from skbviewer.analysis.diagnosis.chosen_legs import DENSE, ChosenLegs


class Columns:
    """A session that has so many legs, and nothing else."""

    def __init__(self, legs: int) -> None:
        self._legs = legs

    def length(self, _: str) -> int:
        return self._legs


class Scope:
    def __init__(self, legs: int) -> None:
        self.columns = Columns(legs)


@pytest.mark.parametrize("legs", [10, 10 * DENSE])
@pytest.mark.parametrize("of", [((1, 4), (4, 7), (), (4,)), ((1,), (), (7, 4), (0,))])
def test_each_packet_of_a_leg_is_found(legs: int, of: tuple[tuple[int, ...], ...]) -> None:
    at = np.cumsum([0, *map(len, of)])
    mine = np.array([leg for own in of for leg in own])
    chosen = ChosenLegs(cast(Any, Scope(legs)), mine, at)
    asked = np.array([4, 0, 7, 9, 4])
    place, packet = chosen.packets_of(asked)
    expected = [(n, i) for n, leg in enumerate(asked) for i, own in enumerate(of) if leg in own]
    assert list(zip(place.tolist(), packet.tolist(), strict=True)) == expected
