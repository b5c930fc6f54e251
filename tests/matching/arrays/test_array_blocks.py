# SPDX-License-Identifier: MIT
"""Which numbers fit into one."""

from __future__ import annotations

from skbviewer.matching.arrays.array_blocks import fits


def test_what_fits() -> None:
    assert fits(1 << 31, 1 << 31)
    assert not fits(1 << 32, 1 << 31)
