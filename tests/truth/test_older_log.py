# SPDX-License-Identifier: MIT
"""A log of version 3 rewritten as version 2: the reader finds the same calls in both."""

from __future__ import annotations

import struct
import tarfile
import zlib
from pathlib import Path

import pytest

from skbviewer.readers import read
from skbviewer.records import KernelLog, Silent

from .older_log import ENTRY, EVENT, EVENTS, EXIT, LOST, as_version_2, records_of
from .treatments import CHUNK, RECORDS, chunks_of

SAMPLE = Path(__file__).parent / "samples/6.12-netem-same-headers.tar.xz"
LONGER = Path(__file__).parents[2] / "resources/samples/locks-and-routes/locks-and-routes.kbl"


@pytest.fixture(scope="module")
def logs(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """Return a recorded log, and the older log that is made from it."""
    folder = tmp_path_factory.mktemp("older")
    with tarfile.open(SAMPLE) as archive:
        archive.extract("log.kbl", folder, filter="data")
    log, old = folder / "log.kbl", folder / "old.kbl"
    assert as_version_2(log, old) == len(list(records_of(old.read_bytes())))
    return log, old


def test_there_are_records_of_version_2_only(logs: tuple[Path, Path]) -> None:
    data = logs[1].read_bytes()
    assert struct.unpack_from("<H", data, 4) == (2,)
    records = list(records_of(data))
    assert {record.kind for record in records} <= {ENTRY, EXIT, EVENT, LOST}
    assert {r.head[1] for r in records if r.kind == EVENT} <= EVENTS
    assert {ext[1] for r in records for ext in r.ext} <= {1, 2, 3, 4, 6}
    assert sum(r.kind == ENTRY and bool(r.ext) for r in records) > 1000


def test_chunks_follow_each_other_in_time(logs: tuple[Path, Path]) -> None:
    data = logs[1].read_bytes()
    numbers: dict[int, int] = {}
    times: dict[int, int] = {}
    for begin, end, kind in chunks_of(data)[1]:
        _, _, cpu, seq, first, last, _, _, crc, _ = CHUNK.unpack_from(data, begin)
        stream = cpu if kind == RECORDS else -1
        assert seq == numbers.get(stream, 0)
        numbers[stream] = seq + 1
        assert crc == zlib.crc32(data[begin + CHUNK.size : end])
        if kind == RECORDS:
            assert times.get(cpu, 0) <= first <= last
            times[cpu] = last


COLUMNS = ("ts", "kind", "func", "skb", "pid", "daddr_lo", "ip_id", "sport", "seq")


def test_reader_finds_the_entries_of_the_recorded_log(logs: tuple[Path, Path]) -> None:
    new, old = (read(log, Silent()) for log in logs)
    assert isinstance(new, KernelLog) and isinstance(old, KernelLog)
    assert (new.version, old.version, old.complete) == (3, 2, new.complete)
    known, now = (_entries(log) for log in (old, new))
    assert len(known) > 0.8 * len(now) > 1000
    assert known <= now


def _entries(log: KernelLog) -> set[tuple[int, ...]]:
    entries = log.records["kind"] == ENTRY
    columns = (log.records[name][entries].tolist() for name in COLUMNS)
    return set(zip(*columns, strict=True))


def test_rows_of_probes_may_be_longer_than_in_version_2(tmp_path: Path) -> None:
    """A log of a current recorder keeps its probes and its counts of hits."""
    new, old = read(LONGER, Silent()), tmp_path / "old.kbl"
    as_version_2(LONGER, old)
    made = read(old, Silent())
    assert isinstance(new, KernelLog) and isinstance(made, KernelLog)
    assert made.probes.keys() == new.probes.keys()
    for number, probe in made.probes.items():
        was = new.probes[number]
        assert (probe.name, probe.module) == (was.name, was.module)
        assert (probe.hits, probe.missed) in ((was.hits, was.missed), (0, 0))
    assert sum(probe.hits for probe in made.probes.values()) > 0
