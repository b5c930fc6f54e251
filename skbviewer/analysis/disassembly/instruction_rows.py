# SPDX-License-Identifier: MIT
"""Rows of a disassembly: instructions with names, source lines and the marks of a recording."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np

from ...readers.kernel_image import KernelImage, SourceLine
from .instruction_decoding import Decoded


class Instruction(NamedTuple):
    """One instruction of a disassembled function.

    `kind` is "jump", "call", "return" or "".  `target` is where a jump or call leads to; it is None
    if a register holds the address.  `name` is the function at `target`, or "+0x4c" for a place in
    the same function.  `source` is set at the first instruction of each source line.  If the
    instruction is a call, `drops` is the number of packets that were dropped in the called
    function, and `calls` are the numbers of recorded calls by function.  `linked` is the code that
    the image has at this place, if the kernel replaced this code.  `linked` is b"" if the code was
    not replaced, or if this is unknown.  `executed` is how often the kernel executed the
    instruction; None if it was not counted.  The addresses of instructions are explained at
    Disassembly.
    """

    address: int
    offset: int  # from the function's begin
    data: bytes
    mnemonic: str
    operands: str
    kind: str
    target: int | None
    name: str
    source: SourceLine | None
    drops: int
    calls: tuple[tuple[str, int], ...]
    linked: bytes = b""
    executed: int | None = None


class Disassembly(NamedTuple):
    """The code of `function`, from the address `begin` to the address `end`.

    `image` is the path of the file with the code: a kernel image, or the kernel log if `recorded`.
    Addresses are those in the image, before KASLR, if `recorded` is False.  Addresses are those in
    the running kernel if `recorded` is True.  `notes` are sentences for the user.
    """

    function: str
    image: str
    begin: int
    end: int
    instructions: tuple[Instruction, ...]
    notes: tuple[str, ...]
    recorded: bool = False

    @property
    def executed(self) -> int | None:
        """Return how often instructions of this function were executed; None if not counted."""
        counts = [one.executed for one in self.instructions if one.executed is not None]
        return sum(counts) if counts else None


class Marks(NamedTuple):
    """What a recording says about return addresses: packets dropped, and calls made.

    `calls` has the number of calls by return address and function.
    """

    drops: Mapping[int, int]
    calls: Mapping[int, Mapping[str, int]]


class Names:
    """Finds names for the targets of jumps and calls in the function from `begin` to `end`.

    `starts` are the functions that a log knows, by address.  The address of the same code in
    `image` is smaller by `slide`.
    """

    def __init__(
        self,
        starts: Mapping[int, str],
        image: KernelImage | None,
        slide: int,
        begin: int,
        end: int,
    ) -> None:
        self._starts, self._slide, self.begin, self._end = starts, slide, begin, end
        self._symbols = image.symbols if image is not None else None

    def name_of(self, target: int | None) -> str:
        """Return the name of the function at the address `target`; "" if it is unknown."""
        if target is None:
            return ""
        if self.begin <= target < self._end:
            return f"+{target - self.begin:#x}"
        return self._starts.get(target) or self._in_image(target - self._slide)

    def _in_image(self, target: int) -> str:
        if self._symbols is None or not 0 <= target < 1 << 64:
            return ""
        addresses = self._symbols.addresses
        at = int(np.searchsorted(addresses, np.uint64(target), side="right")) - 1
        if at < 0:
            return ""
        first = int(np.searchsorted(addresses, addresses[at]))
        offset = target - int(addresses[at])
        if offset and offset >= int(self._symbols.sizes[first]):
            return ""
        return self._symbols.names[first] + (f"+{offset:#x}" if offset else "")


def rows_of(
    found: Sequence[Decoded],
    names: Names,
    lines: Mapping[int, SourceLine],
    marks: Marks,
) -> tuple[Instruction, ...]:
    """Return the instructions `found` with names, source lines and marks.

    `lines` and `marks` are given by address.
    """
    return tuple(_row(one, names, lines.get(one.address), marks) for one in found)


def _row(one: Decoded, names: Names, source: SourceLine | None, marks: Marks) -> Instruction:
    after = one.address + len(one.data)  # where a call here returns to
    calls = marks.calls.get(after, {})
    return Instruction(
        one.address,
        one.address - names.begin,
        one.data,
        one.mnemonic,
        one.operands,
        one.kind,
        one.target,
        names.name_of(one.target),
        source,
        marks.drops.get(after, 0),
        tuple(sorted(calls.items(), key=lambda pair: (-pair[1], pair[0]))),
    )
