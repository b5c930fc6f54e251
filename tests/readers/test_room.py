# SPDX-License-Identifier: MIT
"""Columns of large files lie in a file without a name, and are the same there."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from skbviewer import readers
from skbviewer.readers import room
from skbviewer.readers.room import Room
from skbviewer.records import KernelLog, RecordTable, Silent
from tests.readers.build_kbl import Ipv4, KblBuilder

SKB = 0xFFFF888000001000


def test_a_file_holds_what_is_forgotten(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(room, "LARGE", 1)
    made = Room(3000, 2, tmp_path)
    assert not list(tmp_path.iterdir())
    one, two = made.take(100, np.int64), made.take(1000, np.uint8)
    assert not one.any()
    one[:], two[:] = 7, 9
    release = made.release()
    assert release is not None
    release()
    assert (one == 7).all() and (two == 9).all()


def test_where_the_disk_is_full_memory_serves(tmp_path: Path) -> None:
    made = Room(1 << 60, 1, tmp_path)
    assert made.release() is None
    assert len(made.take(10, np.int64)) == 10


def test_records_are_the_same(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    build = KblBuilder(3)
    func = build.probe("tcp_sendmsg")
    build.footprint(50, 0, SKB, ipv4=Ipv4("10.9.0.1", "10.9.0.2", 9, 17, 1000, 7))
    for number in range(1, 100):
        build.call(100 * number, 0, func, SKB, 30, context=0, entry_cpu=0)
    path = build.write(tmp_path / "a.kbl")
    plain = readers.read(path, Silent(), tmp_path)
    monkeypatch.setattr(room, "LARGE", 1)
    filed = readers.read(path, Silent(), tmp_path)
    assert isinstance(plain, KernelLog) and isinstance(filed, KernelLog)
    assert isinstance(filed.records, RecordTable) and filed.records.release is not None
    filed.records.forget()
    assert len(plain.records) and (plain.records[:] == filed.records[:]).all()
