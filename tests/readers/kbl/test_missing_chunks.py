# SPDX-License-Identifier: MIT
"""When the file lacks records: what the chunks around a hole tell."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path

from skbviewer.records import Hole

from .test_kernel_log import SKB, chunk_places, load, small


def test_holes_last_from_the_record_before_to_the_one_behind(tmp_path: Path) -> None:
    """Each CPU has three chunks of two records: number 0 at 0..10, 1 at 20..30, 2 at 40..50."""
    build = small()
    for ts in range(5, 65, 20):
        build.entry(ts, 1, 0, SKB)
        build.exit(ts + 10, 1, 0, SKB)
    data, path = build.to_bytes(), tmp_path / "a.kbl"
    places = chunk_places(data)[3:10]
    chunks = [data[begin:end] for begin, end in pairwise(places)]

    def without(*gone: int, damaged: int = -1) -> tuple[Hole, ...]:
        kept = [chunk for number, chunk in enumerate(chunks) if number not in gone]
        if damaged >= 0:
            kept[damaged] = kept[damaged][:-1] + b"x"
        return load(path, data[: places[0]] + b"".join(kept) + data[places[-1] :]).holes

    assert without() == ()
    assert without(0) == (Hole(0, 5, 20, 1),)  # nothing stands before: from the file's first record
    assert without(0, 1) == (Hole(0, 5, 40, 2),)
    assert without(1, 4) == (Hole(0, 11, 40, 1), Hole(1, 16, 45, 1))
    assert without(2) == ()  # nobody can miss a last chunk without its header
    assert without(damaged=1) == (Hole(0, 11, 40, 2),)
    assert without(damaged=2) == (Hole(0, 31, 50, 2),)
    assert without(0, damaged=0) == (Hole(0, 5, 40, 3),)
    assert without(0, 1, damaged=0) == (Hole(0, 5, 50, 4),)
