# SPDX-License-Identifier: MIT
"""Disassemble a function of a kernel image."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from ...readers.kernel_image import KernelImage
from ...records import BadInput
from .function_end import without_rest
from .instruction_decoding import Decoded, decode, decoder
from .instruction_rows import Disassembly, Marks, Names, rows_of
from .kernel_build_check import LogKernel

MAX_FUNCTION_BYTES = 1 << 16  # most bytes of a function whose end is not known
PATCHED = (
    "this is the code in the file; a running kernel replaces some of its instructions "
    "(alternatives, static keys, ftrace)"
)
NO_END = "the file has no symbols, so the end of the function was found from its code"
NO_LINES = "the file has no source lines for this function"


class Extent(NamedTuple):
    """Where a function is in an image: the addresses of its first byte and after its last byte.

    If `stated` is false, the image does not say where the function ends, and `end` is an upper
    bound.
    """

    begin: int
    end: int
    stated: bool


def extent_of(image: KernelImage, log: LogKernel, function: str) -> Extent:
    """Return where the code of `function` begins and ends in `image`.

    Raises BadInput if neither `log` nor `image` knows the function.
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
    """Disassemble `function` of `image`, after check_build() has compared `image` with `log`.

    `marks` are the drops and calls to show beside the instructions.  Raises BadInput if the
    function or its code is missing, or if capstone is not installed.
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
    starts = {address - log.stext + image.stext: name for address, name in log.starts().items()}
    names = Names(starts, image, 0, extent.begin, end)
    rows = rows_of(found, names, lines, marks)
    notes = [PATCHED]
    if not extent.stated:
        notes.append(NO_END)
    if not lines:
        notes.append(NO_LINES)
    return Disassembly(function, str(image.path), extent.begin, end, rows, tuple(notes))
