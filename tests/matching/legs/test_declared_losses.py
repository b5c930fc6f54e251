# SPDX-License-Identifier: MIT
"""All losses that a log declares are in one table."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path

import pytest

from skbviewer import readers
from skbviewer.matching.legs.declared_losses import (
    ANY,
    BUFFER,
    MISSED,
    NESTED,
    losses_declared_by,
    of_births,
)
from skbviewer.records import HOLE, UNRECORDED, KernelLog, Silent
from skbviewer.records import kbl_layout as kbl
from skbviewer.records.types import EARLIEST_NS, LATEST_NS
from tests.matching.story import Story
from tests.readers.build_kbl import KblBuilder
from tests.readers.kbl.test_kernel_log import chunk_places

SKB = 0xFFFF888000001000
BEFORE = (EARLIEST_NS, 99, ANY, ANY, ANY, UNRECORDED)
Rows = list[tuple[int, ...]]


def recording(**missed: int) -> KblBuilder:
    """Two CPUs, each with three chunks of two calls: at 100..150 and at 110..160."""
    build = KblBuilder(version=3, per_chunk=2)
    for name in ("ip_rcv", "ip_output", "udp_rcv"):
        build.probe(name, missed=missed.get(name, 0))
    for cpu in (0, 1):
        for number in range(6):
            build.call(100 + 10 * number + 10 * cpu, cpu, 0, SKB, 3)
    build.counters = {"written": 12, "missed": sum(missed.values())}
    return build


def read(path: Path, data: bytes) -> KernelLog:
    path.write_bytes(data)
    log = readers.read(path, Silent())
    assert isinstance(log, KernelLog)
    return log


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "a.kbl"


def rows_of(path: Path, build: KblBuilder) -> Rows:
    rows: Rows = losses_declared_by(read(path, build.to_bytes())).tolist()
    return rows


def chunks_of(build: KblBuilder) -> tuple[bytes, list[bytes], bytes]:
    """Return the bytes before the RECORDS chunks, these chunks, and the bytes after them."""
    data = build.to_bytes()
    places = chunk_places(data)
    places.append(len(data))
    parts = [data[begin:end] for begin, end in pairwise(places)]
    is_record = [part[4] == kbl.KblChunkType.RECORDS for part in parts]
    first, last = is_record.index(True), len(parts) - is_record[::-1].index(True)
    return data[: places[first]], parts[first:last], b"".join(parts[last:])


def test_a_whole_log_lacks_only_what_was_not_recorded(path: Path) -> None:
    after = (160, LATEST_NS, ANY, ANY, ANY, UNRECORDED)
    assert rows_of(path, recording()) == [BEFORE, after]


def test_lost_records_are_rows_and_missed_hits_are_of_any_cpu(path: Path) -> None:
    build = recording(ip_rcv=5)
    build.lost(135, 0, 120, 5, func=0)
    build.lost(140, 1, 130, 9)
    build.counters = {"written": 13, "missed": 5}
    assert rows_of(path, build)[1:3] == [
        (120, 135, ANY, 0, 5, MISSED),
        (130, 140, 1, ANY, 9, BUFFER),
    ]


def test_nested_hits_are_of_their_cpu(path: Path) -> None:
    build = recording()
    build.lost(135, 1, 120, 5, reason=kbl.KblLost.NESTED)
    assert rows_of(path, build)[1:2] == [(120, 135, 1, ANY, 5, NESTED)]


def test_missed_hits_without_a_time_may_have_been_at_any_time(path: Path) -> None:
    rows = rows_of(path, recording(ip_output=7))
    assert (EARLIEST_NS, LATEST_NS, ANY, 1, 7, MISSED) in rows and len(rows) == 3


def test_missed_hits_of_no_known_function_may_have_been_of_any(path: Path) -> None:
    """The kernel counts those of an fprobe for all functions together."""
    build = recording(ip_output=7)
    build.counters = {"written": 12, "missed": 10}
    rows = rows_of(path, build)
    assert (EARLIEST_NS, LATEST_NS, ANY, 1, 7, MISSED) in rows
    assert (EARLIEST_NS, LATEST_NS, ANY, ANY, 3, MISSED) in rows


def test_missed_hits_that_only_some_records_declare(path: Path) -> None:
    """The chunk with the others may be missing."""
    build = recording(ip_output=7)
    build.lost(135, 0, 120, 5, func=1)
    rows = rows_of(path, build)
    assert (120, 135, ANY, 1, 5, MISSED) in rows
    assert (EARLIEST_NS, LATEST_NS, ANY, 1, 2, MISSED) in rows


def test_a_missing_chunk_is_a_row_and_so_is_what_is_around_its_cpu(path: Path) -> None:
    """Nothing shows whether the CPU's last chunk is there: fewer records than were counted."""
    head, chunks, tail = chunks_of(recording())
    log = read(path, head + b"".join(chunks[:1] + chunks[2:]) + tail)
    rows = losses_declared_by(log).tolist()
    assert not log.complete
    assert (114, 140 + 3, 0, ANY, 1, HOLE) in rows
    assert (EARLIEST_NS, 103, 0, ANY, ANY, UNRECORDED) in rows
    assert (153, LATEST_NS, 0, ANY, ANY, UNRECORDED) in rows


def test_a_last_chunk_without_a_trace(path: Path) -> None:
    head, chunks, tail = chunks_of(recording())
    rows = losses_declared_by(read(path, head + b"".join(chunks[:-1]) + tail)).tolist()
    assert (143, LATEST_NS, 1, ANY, ANY, UNRECORDED) in rows


def test_a_cpu_without_any_chunk(path: Path) -> None:
    head, chunks, tail = chunks_of(recording())
    rows = losses_declared_by(read(path, head + b"".join(chunks[:3]) + tail)).tolist()
    assert (EARLIEST_NS, LATEST_NS, 1, ANY, ANY, UNRECORDED) in rows


def test_of_a_file_cut_short_the_last_misses_are_not_known(path: Path) -> None:
    build = recording()
    build.clock(140, 10**18)
    build.end = False
    rows = rows_of(path, build)
    assert (140, LATEST_NS, ANY, ANY, ANY, MISSED) in rows
    assert (163, LATEST_NS, 1, ANY, ANY, UNRECORDED) in rows


def test_a_log_without_records_lacks_all(path: Path) -> None:
    assert rows_of(path, KblBuilder(version=3)) == [
        (EARLIEST_NS, LATEST_NS, ANY, ANY, ANY, UNRECORDED),
        (LATEST_NS, LATEST_NS, ANY, ANY, ANY, UNRECORDED),
    ]


def test_a_recorder_that_polls_declares_all_but_what_the_file_began_with(path: Path) -> None:
    """The log is the second file of a recording, whose totals cover both files."""
    build = recording(ip_rcv=3)
    assert (EARLIEST_NS, LATEST_NS, ANY, 0, 3, MISSED) in rows_of(path, build)
    build.meta["missed_poll_ms"] = "90"
    assert rows_of(path, build)[0] == BEFORE


def test_a_log_with_ends_but_no_births_may_lack_any_skb(tmp_path: Path) -> None:
    story = Story()
    story.call("ip_rcv", 100, 110, 0x1000)
    assert not len(of_births(story.log(tmp_path)))  # headers distinguish its skbs
    story.free(200, 0x1000)
    (row,) = of_births(story.log(tmp_path)).tolist()
    assert row == (EARLIEST_NS, LATEST_NS, ANY, ANY, ANY, UNRECORDED)
    story.alloc(300, 0x1000)
    assert not len(of_births(story.log(tmp_path)))
