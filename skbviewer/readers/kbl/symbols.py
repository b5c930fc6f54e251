# SPDX-License-Identifier: MIT
"""Names for kernel addresses, from the symbol table of a .kbl file."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

HIDDEN = (
    "all addresses are 0, because the kernel hides them: read the file as root after `sysctl -w "
    "kernel.kptr_restrict=0`"
)


class SymbolTable(NamedTuple):
    """Function addresses in ascending order, and their names: `name` or `name [module]`."""

    addresses: npt.NDArray[np.uint64]
    names: tuple[str, ...]

    def name(self, addresses: npt.NDArray[np.int64]) -> dict[int, str]:
        """Return for each address a name such as `ip_output+0x4c`; addresses are signed.

        An address outside all symbols becomes a hexadecimal number.
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
    """Sort (address, name) pairs; if an address has several names, only the first one is kept.

    A pair with an empty name ends the preceding symbol: the addresses from there to the next symbol
    are in no symbol.
    """
    first: dict[int, str] = {}
    for address, name in symbols:
        if not first.get(address):
            first[address] = name
    addresses = sorted(first)
    return SymbolTable(np.array(addresses, np.uint64), tuple(first[item] for item in addresses))
