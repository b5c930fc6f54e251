# SPDX-License-Identifier: MIT
"""Names for kernel addresses: from a KBL's symbol table, or from a kallsyms or System.map file."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from ...records import BadInput
from ..printable_names import printable

FUNCTION_TYPES = "tTwW"
HIDDEN = (
    "all addresses are 0, the kernel hides them: read it as root after "
    "`sysctl -w kernel.kptr_restrict=0`"
)


class SymbolTable(NamedTuple):
    """Function addresses in ascending order, and their names (`name` or `name [module]`)."""

    addresses: npt.NDArray[np.uint64]
    names: tuple[str, ...]

    def name(self, addresses: npt.NDArray[np.int64]) -> dict[int, str]:
        """Text such as `ip_output+0x4c` for addresses as signed 64-bit numbers.

        An address that is in no symbol becomes a hexadecimal number.
        """
        unique = np.unique(addresses)
        unsigned = unique.astype(np.uint64)
        found = np.searchsorted(self.addresses, unsigned, side="right") - 1
        return {
            key: self._text(number, address)
            for key, number, address in zip(
                unique.tolist(), found.tolist(), unsigned.tolist(), strict=True
            )
        }

    def _text(self, number: int, address: int) -> str:
        if number < 0 or not self.names[number]:
            return f"0x{address:x}"
        name, _, module = self.names[number].partition(" ")
        offset = f"{name}+0x{address - int(self.addresses[number]):x}"
        return f"{offset} {module}" if module else offset


def symbol_table(symbols: list[tuple[int, str]]) -> SymbolTable:
    """Sort (address, name) pairs; of several names for one address, the first is kept.

    A pair with an empty name ends the symbol before it: addresses after it are in no symbol.
    """
    first: dict[int, str] = {}
    for address, name in symbols:
        if not first.get(address):
            first[address] = name
    addresses = sorted(first)
    return SymbolTable(np.array(addresses, np.uint64), tuple(first[item] for item in addresses))


def read_kallsyms(path: Path) -> SymbolTable:
    """Read the functions of a /proc/kallsyms or System.map file.

    Raises BadInput if a line is not a symbol, if there is no function, or if the kernel hid the
    addresses.
    """
    try:
        text = path.read_text("ascii", "replace")
    except OSError as error:
        raise BadInput(path, None, (error.strerror or str(error)).lower()) from error
    symbols, at = [], 0
    for line in text.splitlines(keepends=True):
        symbols += _symbol(path, at, line)
        at += len(line)
    if not symbols:
        raise BadInput(path, None, "the file has no function symbol")
    if not any(address for address, _ in symbols):
        raise BadInput(path, None, HIDDEN)
    return symbol_table(symbols)


def _symbol(path: Path, at: int, line: str) -> list[tuple[int, str]]:
    """The function in a line; none for data symbols."""
    fields = line.split()
    try:
        address, type_, name = int(fields[0], 16), fields[1], printable(" ".join(fields[2:4]))
    except (ValueError, IndexError):
        raise BadInput(path, at, "not a line of kallsyms: address, type, name") from None
    if not name or not 0 <= address < 1 << 64:
        raise BadInput(path, at, "not a line of kallsyms: address, type, name")
    return [(address, name)] if type_ in FUNCTION_TYPES else []
