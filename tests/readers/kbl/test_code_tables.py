# SPDX-License-Identifier: MIT
"""Machine code in a KBL, and tables of it whose lengths are hostile."""

from __future__ import annotations

import random
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest

from skbviewer.readers import read
from skbviewer.readers.kbl.log_tables import FUNCTIONS, functions_code
from skbviewer.records import FunctionCode, KernelLog, Silent
from skbviewer.records import kbl_layout as kbl
from tests.readers.build_kbl import STEXT, KblBuilder, chunk_bytes

DATA = bytes(range(1, 65))
Row = tuple[int, int, int, int]  # address, offset, size, flags


def load(path: Path, rows: Sequence[Row], data: bytes, order: str = "<") -> KernelLog:
    """Read a KBL with a probe, one more symbol, and this code."""
    made = KblBuilder(version=3)
    made.probe("ip_rcv")
    made.symbol(STEXT + 0x5000, "nf_hook_slow")
    made.symbol(STEXT + 0x6000, "veth_xmit", "veth")
    table = np.array([(*row, 0) for row in rows], kbl.in_order(kbl.KBL_CODE, order))
    path.write_bytes(
        made.to_bytes(order)
        + chunk_bytes(kbl.KblChunkType.CODE_BYTES, data, order, items=1)
        + chunk_bytes(kbl.KblChunkType.CODE, table.tobytes(), order, items=len(rows))
    )
    log = read(path, Silent())
    assert isinstance(log, KernelLog)
    return log


@pytest.mark.parametrize("order", ["<", ">"])
def test_code_and_the_names_of_what_it_may_call(order: str, tmp_path: Path) -> None:
    rows = [(STEXT, 0, 16, 0), (STEXT + 0x100, 16, 48, kbl.KBL_CODE_NO_END)]
    log = load(tmp_path / "a.kbl", rows, DATA, order)
    assert log.code == (
        FunctionCode(STEXT, True, DATA[:16]),
        FunctionCode(STEXT + 0x100, False, DATA[16:]),
    )
    assert {"nf_hook_slow+0x0", "veth_xmit+0x0 [veth]"} <= set(log.symbols.values())
    assert not any("CODE" in line for line in log.warnings)


def test_without_code_only_callers_have_names(tmp_path: Path) -> None:
    assert load(tmp_path / "a.kbl", [], b"").symbols == {}


@pytest.mark.parametrize(
    "row",
    [
        (STEXT, 0, 0, 0),
        (STEXT, 0, 65, 0),
        (STEXT, 64, 1, 0),
        (STEXT, 0xFFFFFFFF, 1, 0),
        (STEXT, 1, 0xFFFFFFFF, 0),
        (STEXT, 0, kbl.KBL_MAX_FUNCTION + 1, 0),
    ],
)
def test_code_outside_of_the_bytes_is_left_out(row: Row, tmp_path: Path) -> None:
    log = load(tmp_path / "a.kbl", [row, (STEXT + 16, 8, 8, 0)], DATA)
    assert log.code == (FunctionCode(STEXT + 16, True, DATA[8:16]),)
    (line,) = (line for line in log.warnings if "CODE" in line)
    assert line.endswith(
        "table CODE: 1 function left out, because the code is outside of table CODE_BYTES"
    )


def test_rows_that_overlap_do_not_fill_the_memory() -> None:
    """Each row has 64 KiB: all of them together would be 6 GiB."""
    size = kbl.KBL_MAX_FUNCTION
    row = {"offset": 0, "size": size, "flags": 0}
    code, complaints = functions_code([row | {"addr": at} for at in range(100_000)], bytes(size))
    assert sum(len(one.data) for one in code) == kbl.KBL_MAX_CODE
    assert complaints == ["table CODE: more than 32 MiB or 65536 functions: 99488 left out"]
    small = [{"offset": 0, "size": 1, "flags": 0, "addr": at} for at in range(FUNCTIONS + 5)]
    code, complaints = functions_code(small, bytes(1))
    assert len(code) == FUNCTIONS and complaints[0].endswith(": 5 left out")


def test_random_tables(tmp_path: Path) -> None:
    """Whatever the numbers are: all code is inside of the bytes, and nothing is raised."""
    dice = random.Random(24)
    edges = [0, 1, 16, 63, 64, 65, 0xFFFF, 0x10000, 0x10001, 0x7FFFFFFF, 0xFFFFFFFF]
    for _ in range(20):
        rows = [
            (dice.choice([0, STEXT, (1 << 64) - 1]), dice.choice(edges), dice.choice(edges), 1)
            for _ in range(20)
        ]
        data = dice.randbytes(dice.choice([0, 16, 64]))
        log = load(tmp_path / "a.kbl", rows, data)
        wanted = {
            address: data[at : at + size]
            for address, at, size, _ in rows
            if size > 0 and at + size <= len(data)
        }
        assert {one.address: one.data for one in log.code} == wanted


def test_a_table_whose_bytes_are_missing(tmp_path: Path) -> None:
    log = load(tmp_path / "a.kbl", [(STEXT, 0, 16, 0)], b"")
    assert log.code == () and any("outside of table CODE_BYTES" in line for line in log.warnings)
