# SPDX-License-Identifier: MIT
"""Addresses to names, and kallsyms texts."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from skbviewer.readers.kbl.symbols import read_kallsyms, symbol_table
from skbviewer.records import BadInput

TEXT = """\
ffffffff81000000 T _stext
ffffffff81000000 T _text
ffffffff81000100 t ip_rcv
ffffffff82000000 D jiffies
ffffffffc0000000 t veth_xmit\t[veth]
"""


def signed(address: int) -> int:
    return address - (1 << 64)


def write(tmp_path: Path, text: str) -> Path:
    path = tmp_path / "kallsyms"
    path.write_text(text)
    return path


def test_kallsyms(tmp_path: Path) -> None:
    table = read_kallsyms(write(tmp_path, TEXT))
    wanted = [signed(0xFFFFFFFF81000100), signed(0xFFFFFFFF810000FF), signed(0xFFFFFFFFC000001C), 5]
    assert table.name(np.array(wanted, np.int64)) == {
        wanted[0]: "ip_rcv+0x0",
        wanted[1]: "_stext+0xff",
        wanted[2]: "veth_xmit+0x1c [veth]",
        5: "0x5",
    }


def test_empty_table_gives_addresses() -> None:
    assert symbol_table([]).name(np.array([-1], np.int64)) == {-1: "0xffffffffffffffff"}


def test_hidden_addresses(tmp_path: Path) -> None:
    path = write(tmp_path, "0000000000000000 T _stext\n0000000000000000 t ip_rcv\n")
    with pytest.raises(BadInput, match="kptr_restrict"):
        read_kallsyms(path)


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("", "no function symbol"),
        ("ffffffff81000000 D jiffies\n", "no function symbol"),
        ("ffffffff81000000 T _stext\nnonsense\n", "at byte 26: not a line of kallsyms"),
        ("ffffffff81000000 T\n", "at byte 0: not a line of kallsyms"),
        ("-1 T _stext\n", "at byte 0: not a line of kallsyms"),
    ],
)
def test_what_is_no_kallsyms(tmp_path: Path, text: str, why: str) -> None:
    with pytest.raises(BadInput, match=why):
        read_kallsyms(write(tmp_path, text))


def test_unreadable(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match="is a directory"):
        read_kallsyms(tmp_path)
