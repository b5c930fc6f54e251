# SPDX-License-Identifier: MIT
"""Numbers on the axes of graphs."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from skbviewer.gui.base.graph_plot import GraphPlot, distinct_texts, duration, short


@pytest.mark.parametrize(
    ("values", "durations", "texts"),
    [
        ((0, 500, 1000, 1500), False, ["0", "500", "1k", "1.5k"]),
        ((1.1118, 1.112, 1.1122), False, ["1.1118", "1.112", "1.1122"]),
        ((1_000_100, 1_000_200), False, ["1.0001M", "1.0002M"]),
        ((1_235_000, 1_236_000), True, ["1.235 ms", "1.236 ms"]),
        ((2_000e9, 2_000.5e9), True, ["2,000.0 s", "2,000.5 s"]),
        ((7.0, 7.0), False, ["7", "7"]),
        ((), False, []),
    ],
)
def test_numbers_that_differ_look_different(
    values: Sequence[float], durations: bool, texts: list[str]
) -> None:
    assert distinct_texts(values, durations) == texts


def test_a_single_number_is_short() -> None:
    assert short(1_500_000) == "1.5M"
    assert duration(1_234_567.0) == "1.23 ms"
    assert duration(12_345e9) == "12,345 s"


def test_axes_can_be_hidden() -> None:
    plot = GraphPlot("Time")
    assert plot.bottom.isVisible()
    plot.show_axes(False)
    assert not plot.bottom.isVisible() and not plot.left.isVisible()
