# SPDX-License-Identifier: MIT
"""Find where a function without a symbol ends, from its code.

The function ends where the next function begins.  The next function is recognised by a call near
its start: both functions call the same tracer (such as `__fentry__`) near their starts.  If no next
function is recognised, the function ends after the first instruction that fulfils three conditions:
execution never goes on to the next instruction, padding follows, and no earlier jump in the
function leads beyond it.  Code that follows without padding may still belong to the function,
because the jump to it may be a static key, which is a NOP in the file.
"""

from __future__ import annotations

from collections.abc import Sequence

from .instruction_decoding import CALL, JUMP, Decoded

PADDING = frozenset({"nop", "int3"})
ENTRY = 2  # instructions at the start: one of them calls the tracer; endbr64 may precede the call
ALIGNED = 16  # functions begin at multiples


def without_rest(code: Sequence[Decoded], limit: int) -> Sequence[Decoded]:
    """Return only the instructions of the function with which `code` begins.

    The function ends at or before the address `limit`.
    """
    entries = _other_entries(code)
    end, reach = len(code), 0
    for at, one in enumerate(code):
        if one.address in entries:
            end = at
            break
        target = one.target or 0
        # A jump beyond an entry is a call at the end of this function.
        if one.kind == JUMP and reach < target < limit:
            beyond = any(one.address < entry <= target for entry in entries)
            reach = reach if beyond else target
        if one.address + len(one.data) > reach and not one.falls and _pads(code, at + 1):
            end = at + 1
            break
    while end > 1 and code[end - 1].mnemonic in PADDING:
        end -= 1
    return code[:end]


def _other_entries(code: Sequence[Decoded]) -> frozenset[int]:
    """Return the addresses at which other functions begin in `code`.

    Each of these functions calls the tracer that the first function calls.
    """
    tracer = next((one.target for one in code[:ENTRY] if one.kind == CALL), None)
    found = set()
    for at, one in enumerate(code[ENTRY:], ENTRY):
        if one.kind == CALL and tracer is not None and one.target == tracer:
            before = code[at - 1]
            found.add(before.address if before.mnemonic == "endbr64" else one.address)
    return frozenset(found)


def _pads(code: Sequence[Decoded], at: int) -> bool:
    """Return whether padding begins at `code[at]`, and ends where a function may begin."""
    first = at
    while at < len(code) and code[at].mnemonic in PADDING:
        at += 1
    return at > first and (at == len(code) or code[at].address % ALIGNED == 0)
