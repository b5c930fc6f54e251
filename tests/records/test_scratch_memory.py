# SPDX-License-Identifier: MIT
"""Arrays of large imports lie in files without a name, and are the same there."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from skbviewer import readers
from skbviewer.records import Gathered, KernelLog, RecordTable, Scratch, Silent, scratch_of
from skbviewer.records import scratch_memory as room
from tests.readers.build_kbl import Ipv4, KblBuilder

SKB = 0xFFFF888000001000


@pytest.fixture(autouse=True)
def everything_is_large(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(room, "LARGE_BYTES", 1)
    monkeypatch.setattr(room, "SMALLEST_FILE", 1)


def test_a_file_holds_what_is_forgotten(tmp_path: Path) -> None:
    made = Scratch(tmp_path)
    one, two, three = (
        made.full(100, np.int64, 7),
        made.take(1000, np.uint8),
        made.keep(np.arange(9)),
    )
    two[:] = 9
    assert not list(tmp_path.iterdir())
    assert all(some.base is not None for some in (one, two, three))
    made.forget()
    assert (one == 7).all() and (two == 9).all() and (three == np.arange(9)).all()
    assert not made.full(100, np.int32, 0).any()


def test_an_array_that_nobody_has_is_gone(tmp_path: Path) -> None:
    made = Scratch(tmp_path)
    one = made.full(100, np.int64, 1)
    part = one[3:5]
    del one
    assert len(made._maps) == 1
    assert part.tolist() == [1, 1]
    del part
    assert len(made._maps) == 0
    made.forget()


def test_where_the_disk_is_full_memory_serves(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: int) -> None:
        raise OSError

    monkeypatch.setattr("os.posix_fallocate", full)
    for made in (Scratch(tmp_path), Scratch()):
        one = made.full(10, np.int64, 3)
        made.forget()
        assert one.base is None and one.tolist() == [3] * 10


@pytest.mark.parametrize("folder", [True, False])
def test_parts_are_one_array(tmp_path: Path, folder: bool) -> None:
    parts = Gathered(Scratch(tmp_path if folder else None), np.int8)
    for begin in range(0, 1000, 100):
        parts.add(np.arange(begin, begin + 100).astype(np.int16 if begin else np.int8))
    whole = parts.whole()
    assert whole.dtype == np.int16 and whole.tolist() == list(range(1000))
    assert Gathered(Scratch(), np.int32).whole().dtype == np.int32


def test_records_are_the_same(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    build = KblBuilder(3)
    func = build.probe("tcp_sendmsg")
    build.footprint(50, 0, SKB, ipv4=Ipv4("10.9.0.1", "10.9.0.2", 9, 17, 1000, 7))
    for number in range(1, 100):
        build.call(100 * number, 0, func, SKB, 30, context=0, entry_cpu=0)
    path = build.write(tmp_path / "a.kbl")
    filed = readers.read(path, Silent(), tmp_path)
    monkeypatch.setattr(room, "LARGE_BYTES", 1 << 30)
    plain = readers.read(path, Silent(), tmp_path)
    assert isinstance(plain, KernelLog) and isinstance(filed, KernelLog)
    assert isinstance(filed.records, RecordTable) and isinstance(plain.records, RecordTable)
    assert scratch_of(filed.records).in_files and not scratch_of(plain.records).in_files
    filed.records.scratch.forget()
    assert len(plain.records) and (plain.records[:] == filed.records[:]).all()
