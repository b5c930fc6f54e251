# SPDX-License-Identifier: MIT
"""Arrows of jumps: those that overlap are in different lanes."""

from __future__ import annotations

from skbviewer.analysis.disassembly import Disassembly, Instruction
from skbviewer.analysis.disassembly.jump_arrow_layout import LANES, Arrow, arrows_of


def code(targets: dict[int, int], size: int) -> Disassembly:
    """A function of one-byte instructions, of which some jump."""
    rows = tuple(
        Instruction(
            100 + at, at, b"\x90", "jmp", "", "jump" if at in targets else "",
            100 + targets[at] if at in targets else None, "", None, 0, (),
        )
        for at in range(size)
    )  # fmt: skip
    return Disassembly("f", "vmlinux", 100, 100 + size, rows, ())


def test_short_jumps_are_next_to_the_text() -> None:
    shown = code({0: 9, 2: 4, 6: 5, 8: 1}, 10)
    assert set(arrows_of(shown)) == {
        Arrow(2, 4, 0), Arrow(6, 5, 0), Arrow(8, 1, 1), Arrow(0, 9, 2),
    }  # fmt: skip


def test_jumps_out_of_the_function_and_too_many_have_no_arrow() -> None:
    assert arrows_of(code({0: 77}, 10)) == ()
    nested = {at: 40 - at for at in range(LANES + 3)}
    found = arrows_of(code(nested, 41))
    assert sorted(one.lane for one in found) == list(range(LANES))
    assert min(abs(one.begin - one.end) for one in found) == 40 - 2 * (LANES + 2)
