# SPDX-License-Identifier: MIT
"""Disassemble a function as it was in the memory of the recorded kernel.

A kernel image of the same build adds names, source lines, and the original instructions that the
kernel replaced.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from ...readers.kernel_image import KernelImage, SourceLine
from ...records import BadInput, FunctionCode, counted, verb
from .function_end import PADDING, without_rest
from .instruction_decoding import Decoded, decode, decoder
from .instruction_rows import Disassembly, Instruction, Marks, Names, rows_of
from .kernel_build_check import MACHINES, LogKernel

RUNNING = (
    "this code was read from the kernel's memory when the recording started, before kblrecord set "
    "its probes"
)
NO_END = "no symbol follows the function, so its end was found from its code"
NO_IMAGE = (
    "with a kernel image, the listing also shows source lines and the instructions that the kernel "
    "replaced"
)
NOT_IN_IMAGE = "the image has no code of this function"
LONG = 4  # bytes of an address in an instruction


def disassemble_recorded(
    code: FunctionCode,
    path: Path,
    log: LogKernel,
    function: str,
    marks: Marks,
    image: KernelImage | None = None,
) -> Disassembly:
    """Disassemble `function`, whose code is in the kernel log `path`.

    `image` must be one that check_build() has compared with `log`.  All addresses are those of the
    running kernel, also in `marks`.  Raises BadInput if capstone is not installed, or does not know
    the machine.
    """
    made = decoder(MACHINES.get(log.arch, log.arch), path)
    found = _ended(tuple(decode(made, code.data, code.address)), code)
    if not found:
        raise BadInput(path, None, f"has no code of {function}")
    end = found[-1].address + len(found[-1].data)
    slide = log.stext - image.stext if image is not None else 0
    names = Names(log.all_starts(), image, slide, code.address, end)
    rows = rows_of(found, names, _lines(image, slide, code.address, end), marks)
    notes = [RUNNING] if code.ended else [RUNNING, NO_END]
    if image is None:
        notes.append(NO_IMAGE)
    else:
        linked = image.bytes_at(code.address - slide, end - slide)
        rows = _compared(rows, linked, slide)
        notes.append(_said(rows, linked, image.path))
    return Disassembly(function, str(path), code.address, end, rows, tuple(notes), True)


def _ended(found: Sequence[Decoded], code: FunctionCode) -> Sequence[Decoded]:
    if not code.ended:
        return without_rest(found, code.address + len(code.data))
    end = len(found)
    while end > 1 and found[end - 1].mnemonic in PADDING:
        end -= 1
    return found[:end]


def _lines(image: KernelImage | None, slide: int, begin: int, end: int) -> dict[int, SourceLine]:
    if image is None:
        return {}
    lines = image.lines.between(begin - slide, end - slide)
    return {address + slide: line for address, line in lines.items()}


def _said(rows: Sequence[Instruction], linked: bytes, path: Path) -> str:
    if not linked:
        return NOT_IN_IMAGE
    number = sum(bool(one.linked) for one in rows)
    return f"{counted(number, 'instruction')} {verb(number, 'differs', 'differ')} from {path}"


def _compared(rows: tuple[Instruction, ...], linked: bytes, slide: int) -> tuple[Instruction, ...]:
    """Return `rows` with the image's code (`linked`) where it differs from the recorded code."""
    made = []
    for one in rows:
        there = linked[one.offset : one.offset + len(one.data)]
        same = len(there) < len(one.data) or _is_moved(one.data, there, slide)
        made.append(one if same else one._replace(linked=there))
    return tuple(made)


def _is_moved(here: bytes, there: bytes, slide: int) -> bool:
    """Return whether two pieces of code differ at most in one address that KASLR moved.

    KASLR moves an address by `slide`.  A relative address of something that KASLR does not move
    differs by -`slide`.
    """
    if here == there:
        return True
    wanted = {slide % (1 << 8 * LONG), -slide % (1 << 8 * LONG)}
    for at in range(len(here) - LONG + 1):
        end = at + LONG
        moved = int.from_bytes(here[at:end], "little") - int.from_bytes(there[at:end], "little")
        if moved % (1 << 8 * LONG) in wanted:
            return here[:at] + here[end:] == there[:at] + there[end:]
    return False
