# SPDX-License-Identifier: MIT
"""A disassembled function as lines of text, and as values for JSON."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from ...records import counted

if TYPE_CHECKING:
    from ..disassembly import Disassembly, Instruction

CODE = 24  # width of the bytes of an instruction, in characters
MNEMONIC = 8
EXECUTED = 13  # width of how often an instruction was executed


def disassembly_lines(shown: Disassembly) -> Iterator[str]:
    """Yield a heading, the notes, and a line for each instruction and for each new source line."""
    size = counted(shown.end - shown.begin, "byte")
    executed = "" if shown.executed is None else f", {shown.executed:,} instructions executed"
    yield f"{shown.function} in {shown.image}: {size} at {shown.begin:#x}{executed}"
    for note in shown.notes:
        yield f"# {note}"
    for one in shown.instructions:
        if one.source is not None:
            yield f"{one.source.file}:{one.source.line}"
        yield instruction_line(one)


def instruction_line(one: Instruction) -> str:
    """Return a line: how often executed, offset, bytes, instruction, name of the target, marks."""
    said = instruction_text(one)
    marks = mark_text(one)
    marks += f"{', ' if marks else ''}{linked_text(one)}" if one.linked else ""
    executed = "" if one.executed is None else f"{one.executed:{EXECUTED},}"
    line = f"{executed}  +{one.offset:<#7x} {one.data.hex(' '):{CODE}} {said:40}"
    return f"{line}  # {marks}" if marks else line.rstrip()


def instruction_text(one: Instruction) -> str:
    """Return the instruction as text, followed by the name of what it jumps to or calls."""
    name = f" <{one.name}>" if one.name else ""
    return f"{one.mnemonic:{MNEMONIC}}{one.operands}{name}".rstrip()


def short_text(one: Instruction) -> str:
    """Return the instruction as text, with the target's name (if known) in place of its address."""
    operands = one.operands
    if one.target is not None and one.name:
        operands = operands.replace(f"{one.target:#x}", one.name)
    return f"{one.mnemonic:{MNEMONIC}}{operands}".rstrip()


def mark_text(one: Instruction) -> str:
    """Return the recording's drops and calls at the instruction as text; "" if there are none."""
    marks = [f"{counted(one.drops, 'packet')} dropped"] if one.drops else []
    marks += [f"{function}: {counted(number, 'call')}" for function, number in one.calls]
    return ", ".join(marks)


def linked_text(one: Instruction) -> str:
    """Return the image's bytes of an instruction that the kernel replaced; otherwise ""."""
    return f"image: {one.linked.hex(' ')}" if one.linked else ""


def disassembly_json(shown: Disassembly) -> dict[str, Any]:
    """Return a disassembly as values for JSON; addresses are numbers, bytes hexadecimal."""
    return {
        "function": shown.function,
        "image": shown.image,
        "recorded": shown.recorded,
        "begin": shown.begin,
        "end": shown.end,
        "notes": list(shown.notes),
        "instructions": [_json(one) for one in shown.instructions],
    }


def _json(one: Instruction) -> dict[str, Any]:
    return {
        "address": one.address,
        "offset": one.offset,
        "bytes": one.data.hex(),
        "mnemonic": one.mnemonic,
        "operands": one.operands,
        "kind": one.kind,
        "target": one.target,
        "target_name": one.name,
        "source": None if one.source is None else one.source._asdict(),
        "dropped": one.drops,
        "linked_bytes": one.linked.hex(),
        "executed": one.executed,
        "calls": [{"function": name, "calls": number} for name, number in one.calls],
    }
