# SPDX-License-Identifier: MIT
"""The addresses of legs, against a plain search for rows that no earlier row equals."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any, cast

import numpy as np
import pytest

from skbviewer.analysis.ingest.leg_addresses import ENDS, addresses
from skbviewer.matching import KernelSide


def _kernel_side(dice: np.random.Generator, rows: int) -> tuple[KernelSide, list[tuple[int, ...]]]:
    """Return the footprints of `rows` records, and their legs and addresses in order of time."""
    table = np.zeros(max(rows, 1), [(name, np.int64) for name in ENDS])
    for name in ENDS:
        table[name] = dice.integers(0, 2, len(table))
    leg, number = dice.integers(-1, 6, rows).astype(np.int32), dice.integers(0, len(table), rows)
    prints = SimpleNamespace(rows=table, number=number, record=np.arange(rows))
    side: Any = SimpleNamespace(prints=prints, legs=SimpleNamespace(of=leg))
    shown = [(int(leg[i]), *table[int(number[i])].tolist()) for i in range(rows)]
    return cast(KernelSide, side), shown


@pytest.mark.parametrize("rows", [0, 1, 7, 60, 400])
def test_each_pair_of_addresses_once_in_the_leg_that_had_it_first(rows: int) -> None:
    side, shown = _kernel_side(np.random.default_rng(rows), rows)
    wanted = list(dict.fromkeys(one for one in shown if one[0] >= 0 and one[1] != 0))
    made = addresses(side)
    found = list(zip(*(made[name].tolist() for name in ("leg", *ENDS)), strict=True))
    assert found == sorted(wanted, key=lambda one: one[0])
