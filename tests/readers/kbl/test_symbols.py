# SPDX-License-Identifier: MIT
"""Addresses to names."""

from __future__ import annotations

import numpy as np

from skbviewer.readers.kbl.symbols import symbol_table

SYMBOLS = [
    (0xFFFFFFFF81000000, "_stext"),
    (0xFFFFFFFF81000000, "_text"),
    (0xFFFFFFFFC0000000, "veth_xmit [veth]"),
    (0xFFFFFFFF81000100, "ip_rcv"),
]


def signed(address: int) -> int:
    return address - (1 << 64)


def test_names_have_offsets_and_modules() -> None:
    table = symbol_table(SYMBOLS)
    wanted = [signed(0xFFFFFFFF81000100), signed(0xFFFFFFFF810000FF), signed(0xFFFFFFFFC000001C), 5]
    assert table.name(np.array(wanted, np.int64)) == {
        wanted[0]: "ip_rcv+0x0",
        wanted[1]: "_stext+0xff",
        wanted[2]: "veth_xmit+0x1c [veth]",
        5: "0x5",
    }


def test_empty_table_gives_addresses() -> None:
    assert symbol_table([]).name(np.array([-1], np.int64)) == {-1: "0xffffffffffffffff"}
