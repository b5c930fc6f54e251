# SPDX-License-Identifier: MIT
"""Tables of a KBL whose rows are of another size than this program's."""

from __future__ import annotations

import struct
from pathlib import Path

import numpy as np
import pytest

from skbviewer.readers import read
from skbviewer.records import KernelLog, Silent
from skbviewer.records import kbl_layout as kbl
from skbviewer.session import import_files
from tests.readers.build_kbl import KblBuilder, chunk_bytes


def load(path: Path, data: bytes) -> KernelLog:
    path.write_bytes(data)
    log = read(path, Silent())
    assert isinstance(log, KernelLog)
    return log


@pytest.mark.parametrize("order", ["<", ">"])
def test_tables_of_an_older_file_are_shorter(tmp_path: Path, order: str) -> None:
    old = struct.pack(order + "6Q", 5, 6, 7, 8, 9, 10)  # struct kbl_counters of version 2
    data = KblBuilder().to_bytes(order)
    for type_ in (kbl.KblChunkType.COUNTERS, kbl.KblChunkType.CALIBRATION):
        data += chunk_bytes(type_, old, order, items=1)
    meta = load(tmp_path / "a.kbl", data).meta
    counters = {k: v for k, v in meta.items() if k.startswith("counters.")}
    names = ("mono_ns", "written", "lost", "missed", "null_skb", "nested")
    assert counters == {f"counters.{n}": str(v) for n, v in zip(names, range(5, 11), strict=True)}
    assert meta["calibration.n_nested"] == "10" and "calibration.rounds" not in meta


def test_tables_of_rows_that_are_too_short(tmp_path: Path) -> None:
    data = KblBuilder().to_bytes() + chunk_bytes(kbl.KblChunkType.CLOCK, bytes(32), items=2)
    log = load(tmp_path / "a.kbl", data)
    assert any("a table CLOCK with rows of 16 bytes: left out" in line for line in log.warnings)


def test_probes_with_an_impossible_id_are_left_out(tmp_path: Path) -> None:
    rows = np.zeros(2, kbl.KBL_PROBE)
    rows["id"] = 65_535, 1_258_291_206
    data = KblBuilder().to_bytes()
    data += chunk_bytes(kbl.KblChunkType.PROBES, rows.tobytes(), items=2)
    log = load(tmp_path / "a.kbl", data)
    assert 65_535 in log.probes and 1_258_291_206 not in log.probes
    assert any("1 probe with an id of 65536 or more: left out" in line for line in log.warnings)


def test_counts_that_no_integer_of_sql_holds_are_limited(tmp_path: Path) -> None:
    rows = np.zeros(2, kbl.KBL_PROBE)
    rows["id"], rows["missed"] = (1, 2), (1 << 63, (1 << 64) - 1)
    counters = np.zeros(1, kbl.KBL_COUNTERS)
    counters["missed"] = (1 << 64) - 1
    data = KblBuilder().to_bytes()
    data += chunk_bytes(kbl.KblChunkType.PROBES, rows.tobytes(), items=2)
    data += chunk_bytes(kbl.KblChunkType.COUNTERS, counters.tobytes(), items=1)
    (tmp_path / "a.kbl").write_bytes(data)
    warnings = import_files([tmp_path / "a.kbl"], tmp_path / "a.skbv")
    for table, number in (("PROBES", "2 counts"), ("COUNTERS", "1 count")):
        wanted = f"table {table}: {number} of 2^63 or more: taken as 2^63 - 1"
        assert any(wanted in str(line) for line in warnings)
