# SPDX-License-Identifier: MIT
"""A function's code as a list of instructions, with names, source lines and marks."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np

from ...readers.kernel_image import KernelImage, SourceLine
from ...records import BadInput
from .build_check import LogKernel
from .decoding import Decoded, decode, decoder
from .function_end import without_rest

MAX_FUNCTION_BYTES = 1 << 16  # most bytes of a function whose end is not known
PATCHED = (
    "this is the code of the file: a running kernel replaces some instructions "
    "(alternatives, static keys, trace points of functions)"
)
NO_END = "the file has no symbols: the end of the function was found from its code"
NO_LINES = "the file has no source lines for this function"


class Instruction(NamedTuple):
    """One instruction.  Addresses are those of the image, before KASLR.

    `kind` is "jump", "call", "return" or "".  `target` is the target of a jump or call; None if a
    register holds it.  `name` is the function there, or "+0x4c" in this function.  `source` is set
    where a new line begins.  If the instruction is a call, `drops` counts the packets that were
    dropped in it, and `calls` counts the recorded calls that it made, by function.
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


class Disassembly(NamedTuple):
    """The code of `function`, from `begin` to `end`.  `notes` are sentences for the reader."""

    function: str
    image: str
    begin: int
    end: int
    instructions: tuple[Instruction, ...]
    notes: tuple[str, ...]


class Marks(NamedTuple):
    """The facts of a recording, by return address in the image: packets dropped, calls made.

    Calls are counted by function.
    """

    drops: Mapping[int, int]
    calls: Mapping[int, Mapping[str, int]]


class Extent(NamedTuple):
    """Where a function is in an image: addresses of its first byte, and of the byte after its last.

    Unless `stated`, the image does not say where the function ends, and `end` is an upper bound.
    """

    begin: int
    end: int
    stated: bool


def extent_of(image: KernelImage, log: LogKernel, function: str) -> Extent:
    """Return where the code of `function` begins and ends in `image`.

    Raises BadInput if neither log nor image has the function.
    """
    module = log.modules.get(function)
    if module:
        raise BadInput(image.path, None, f"has no code of {function}: it is in the module {module}")
    slide = log.stext - image.stext
    starts = {address - slide: name for address, name in log.starts().items()}
    named = {name: address for address, name in starts.items()}
    symbols = image.symbols
    if function in log.probed:
        begin = log.probed[function] - slide
    elif function in symbols.names:
        begin = int(symbols.addresses[symbols.names.index(function)])
    elif function in named:
        begin = named[function]
    else:
        raise BadInput(
            image.path, None, f"neither the image nor the recording has a function {function}"
        )
    at = int(np.searchsorted(symbols.addresses, begin))
    same = range(at, int(np.searchsorted(symbols.addresses, begin, side="right")))
    size = max((int(symbols.sizes[number]) for number in same), default=0)
    if size:
        return Extent(begin, begin + size, True)
    after = [address for address in starts if address > begin]
    after += symbols.addresses[same.stop : same.stop + 1].tolist()
    return Extent(begin, min([begin + MAX_FUNCTION_BYTES, *after]), False)


def disassemble(image: KernelImage, log: LogKernel, function: str, marks: Marks) -> Disassembly:
    """Disassemble `function` of `image`, which check_build() has compared with `log`.

    `marks` are the drops and calls that are shown beside the instructions.  Raises BadInput if
    there is no such function, if it has no code, or if capstone is missing.
    """
    extent = extent_of(image, log, function)
    made = decoder(image.machine, image.path)
    code = image.bytes_at(extent.begin, extent.end)
    if not code:
        raise BadInput(image.path, None, f"has no code of {function}")
    found: Sequence[Decoded] = tuple(decode(made, code, extent.begin))
    if not extent.stated:
        found = without_rest(found, extent.end)
    end = found[-1].address + len(found[-1].data)
    lines = image.lines.between(extent.begin, end)
    names = _Names(image, log, function, extent.begin, end)
    rows = tuple(_row(one, names, lines.get(one.address), marks) for one in found)
    notes = [PATCHED]
    if not extent.stated:
        notes.append(NO_END)
    if not lines:
        notes.append(NO_LINES)
    return Disassembly(function, str(image.path), extent.begin, end, rows, tuple(notes))


class _Names:
    """Names for the targets of jumps and calls."""

    def __init__(
        self, image: KernelImage, log: LogKernel, function: str, begin: int, end: int
    ) -> None:
        self._symbols, self.begin, self._end = image.symbols, begin, end
        slide = log.stext - image.stext
        self._starts = {address - slide: name for address, name in log.starts().items()}
        self._own = function

    def name_of(self, target: int | None) -> str:
        """Return the name of what is at the address `target`; "" if there is none."""
        if target is None:
            return ""
        if self.begin <= target < self._end:
            return f"+{target - self.begin:#x}"
        if target in self._starts:
            return self._starts[target]
        addresses = self._symbols.addresses
        at = int(np.searchsorted(addresses, target, side="right")) - 1
        if at < 0:
            return ""
        first = int(np.searchsorted(addresses, addresses[at]))
        offset = target - int(addresses[at])
        if offset and offset >= int(self._symbols.sizes[first]):
            return ""
        return self._symbols.names[first] + (f"+{offset:#x}" if offset else "")


def _row(one: Decoded, names: _Names, source: SourceLine | None, marks: Marks) -> Instruction:
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
