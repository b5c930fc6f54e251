# SPDX-License-Identifier: MIT
"""Executions of each instruction, compared with a walk over all blocks."""

from __future__ import annotations

import random
from pathlib import Path

import pytest

from skbviewer.analysis.disassembly import Disassembly, Instruction, with_executed_counts
from skbviewer.analysis.words.disassembly_text import disassembly_json, disassembly_lines
from skbviewer.readers.kernel_image.emulator_block_counts import read_executed_blocks
from skbviewer.records import BadInput
from tests.readers.build_executed_blocks import Block, build

BEGIN = 0xFFFFFFFF81001000


def disassembly(sizes: list[int]) -> Disassembly:
    """Return a function of instructions with `sizes` bytes."""
    rows, at = [], BEGIN
    for size in sizes:
        data = bytes(size)
        rows.append(Instruction(at, at - BEGIN, data, "nop", "", "", None, "", None, 0, ()))
        at += size
    return Disassembly("f", "a.kbl", BEGIN, at, tuple(rows), (), True)


def test_counts_are_those_of_a_walk_over_all_blocks(tmp_path: Path) -> None:
    of = random.Random(7)
    shown = disassembly([of.randrange(1, 9) for _ in range(200)])
    edges = [one.address for one in shown.instructions] + [shown.end]
    blocks: list[Block] = [
        (BEGIN - 50, BEGIN - 3, 9, 4, 36), (BEGIN - 9, edges[3], 5, 1, 5),
        (edges[-3], shown.end + 7, 4, 11, 44), (shown.end, shown.end + 5, 1, 8, 8),
    ]  # fmt: skip
    for _ in range(300):
        first = of.randrange(200)
        last = of.randrange(first + 1, min(first + 20, 201))
        runs = of.randrange(1 << 40)
        blocks.append((edges[first], edges[last], last - first, runs, (last - first) * runs))
    counts = read_executed_blocks(build(tmp_path / "insns", blocks))
    found = with_executed_counts(shown, counts)
    wanted = [
        sum(runs for start, after, _, runs, _ in blocks if start <= one.address < after)
        for one in shown.instructions
    ]
    assert [one.executed for one in found.instructions] == wanted
    assert found.notes == (
        f"counts of executed instructions, without executions by probes: {counts.path}",
    )


def test_a_block_that_begins_inside_an_instruction_is_refused(tmp_path: Path) -> None:
    path = build(tmp_path / "insns", [(BEGIN + 2, BEGIN + 4, 1, 1, 1)])
    with pytest.raises(BadInput, match="another boot, or on another kernel"):
        with_executed_counts(disassembly([4, 4]), read_executed_blocks(path))


def test_notes_say_what_was_not_counted(tmp_path: Path) -> None:
    shown, path = disassembly([4, 4]), tmp_path / "insns"
    none = with_executed_counts(shown, read_executed_blocks(build(path, [(9, 12, 1, 5, 5)])))
    assert none.notes == (f"{path}: no instruction was executed while counting",)
    assert [one.executed for one in none.instructions] == [0, 0]
    cut = build(path, [(BEGIN, BEGIN + 8, 2, 5, 9)])
    (note,) = with_executed_counts(shown, read_executed_blocks(cut)).notes
    assert note.endswith("; 1 block was left early, so the counts may be too large")


def test_lines_and_json_have_the_counts(tmp_path: Path) -> None:
    blocks = build(tmp_path / "insns", [(BEGIN, BEGIN + 4, 1, 1234, 1234)])
    shown = with_executed_counts(disassembly([4, 4]), read_executed_blocks(blocks))
    head, *_, first, second = disassembly_lines(shown)
    assert head.endswith(": 8 bytes at 0xffffffff81001000, 1,234 instructions executed")
    assert first.startswith("        1,234  +0x0 ") and second.startswith("            0  +0x4 ")
    assert [row["executed"] for row in disassembly_json(shown)["instructions"]] == [1234, 0]
    assert disassembly_json(disassembly([4]))["instructions"][0]["executed"] is None
    assert "executed" not in next(disassembly_lines(disassembly([4])))
