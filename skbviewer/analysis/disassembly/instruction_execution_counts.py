# SPDX-License-Identifier: MIT
"""Show how often each instruction of a disassembly was executed, from counts of code blocks."""

from __future__ import annotations

import numpy as np

from ...readers.kernel_image.emulator_block_counts import ExecutedBlocks
from ...readers.kernel_image.emulator_file import Words
from ...records import BadInput, counted, verb
from .instruction_rows import Disassembly

NOT_EXECUTED = "no instruction was executed while counting"
OTHER_CODE = (
    "its basic blocks do not match this code: the instructions were counted during another boot, "
    "or on another kernel"
)


def with_executed_counts(shown: Disassembly, blocks: ExecutedBlocks) -> Disassembly:
    """Return recorded code with the number of executions beside each instruction.

    Raises BadInput if a block begins inside an instruction, because then the blocks' addresses are
    from another boot.
    """
    addresses = np.array([one.address for one in shown.instructions], np.uint64)
    here = (blocks.start < np.uint64(shown.end)) & (blocks.after > np.uint64(shown.begin))
    begins = blocks.start[here & (blocks.start >= np.uint64(shown.begin))]
    if not np.isin(begins, addresses).all():
        raise BadInput(blocks.path, None, OTHER_CODE)
    counts = _executed(addresses, blocks.start[here], blocks.after[here], blocks.runs[here])
    rows = tuple(
        one._replace(executed=count)
        for one, count in zip(shown.instructions, counts.tolist(), strict=True)
    )
    notes = (*shown.notes, _note(blocks, counts, int(np.count_nonzero(blocks.is_cut & here))))
    return shown._replace(instructions=rows, notes=notes)


def _executed(addresses: Words, start: Words, after: Words, runs: Words) -> Words:
    """Return for each address the sum of `runs` over the blocks that contain it."""
    begun = _sum_until(addresses, start, runs)
    ended = _sum_until(addresses, after, runs)
    return begun - ended


def _sum_until(addresses: Words, edges: Words, runs: Words) -> Words:
    """Return for each address the sum of `runs` over the `edges` that are at or before it."""
    order = np.argsort(edges)
    sums = np.concatenate([np.zeros(1, np.uint64), np.cumsum(runs[order], dtype=np.uint64)])
    return sums[np.searchsorted(edges[order], addresses, side="right")]


def _note(blocks: ExecutedBlocks, counts: Words, cut: int) -> str:
    if not counts.any():
        return f"{blocks.path}: {NOT_EXECUTED}"
    note = f"counts of executed instructions, without executions by probes: {blocks.path}"
    if not cut:
        return note
    blocks_left = f"{counted(cut, 'block')} {verb(cut, 'was', 'were')} left early"
    return f"{note}; {blocks_left}, so the counts may be too large"
