# SPDX-License-Identifier: MIT
"""Files with executed blocks: what they hold, and one line for what is damaged."""

from __future__ import annotations

from pathlib import Path

import pytest

from skbviewer.readers.kernel_image.emulator_block_counts import read_executed_blocks
from skbviewer.records import BadInput
from tests.readers.build_executed_blocks import build

HIGH = 0xFFFFFFFF81000000


def test_blocks_are_those_of_the_file(tmp_path: Path) -> None:
    rows = [(HIGH, HIGH + 9, 3, 5, 15), (HIGH + 9, HIGH + 20, 4, 2, 7)]
    found = read_executed_blocks(build(tmp_path / "insns", rows))
    assert found.start.tolist() == [HIGH, HIGH + 9]
    assert found.after.tolist() == [HIGH + 9, HIGH + 20]
    assert found.runs.tolist() == [5, 2]
    assert found.is_cut.tolist() == [False, True]


@pytest.mark.parametrize(
    ("words", "why"),
    [
        ({"version": 4}, "at byte 8: has version 4; this program reads up to 3"),
        ({"faults": 3}, "at byte 72: its counts are wrong: 3 probes did not end"),
        ({"blocks": 2}, "at byte 240: has 240 bytes instead of 296"),
        ({"accesses": 0}, "at byte 200: has 240 bytes instead of 200"),
        ({"marks": (1 << 64) - 1}, "at byte 240: has 240 bytes instead of 8854"),
    ],
)
def test_a_wrong_head_is_one_line(tmp_path: Path, words: dict[str, int], why: str) -> None:
    path = build(tmp_path / "insns", [(HIGH, HIGH + 9, 3, 5, 15)], **words)
    with pytest.raises(BadInput) as said:
        read_executed_blocks(path)
    assert why in str(said.value) and str(path) in str(said.value)


def test_a_block_that_ends_before_it_begins(tmp_path: Path) -> None:
    path = build(tmp_path / "insns", [(HIGH, HIGH + 9, 3, 5, 15), (HIGH, HIGH, 3, 5, 15)])
    with pytest.raises(BadInput, match="at byte 200: a block of instructions ends before"):
        read_executed_blocks(path)


def test_cut_at_every_byte(tmp_path: Path) -> None:
    whole = build(tmp_path / "insns", [(HIGH, HIGH + 9, 3, 5, 15)]).read_bytes()
    for size in range(len(whole)):
        cut = tmp_path / "cut"
        cut.write_bytes(whole[:size])
        with pytest.raises(BadInput):
            read_executed_blocks(cut)
    with pytest.raises(BadInput, match="No such file"):
        read_executed_blocks(tmp_path / "nothing")
