# SPDX-License-Identifier: MIT
"""Full sub-buffers are written from where they lie, and the file is that of a plain read()."""

from __future__ import annotations

import signal
import time
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pytest

from skbviewer.records import kbl_layout as layout
from tests.kmod.recorder import Fake, Recorder, calls
from tests.lab.kbl_check import Kbl, read

HEAD = 48  # KBL_MAP_HEAD of kbl_map.h
SIZE = 256 << 10  # of a sub-buffer
SLOT = layout.KBL_SLOT_SIZE
WHOLE = (SIZE - 2 * HEAD) // SLOT  # CALLs that fit
FIRST = 6_000_000_000


class Filled(NamedTuple):
    """CALLs in a sub-buffer."""

    first: int
    number: int

    def records(self) -> bytes:
        return calls(self.number, FIRST + 1000 * self.first)


def filled(counts: Sequence[int]) -> list[Filled]:
    """Sub-buffers with these numbers of CALLs, one a microsecond."""
    begin = np.cumsum(counts) - counts
    return [Filled(int(first), count) for first, count in zip(begin, counts, strict=True)]


class Buffer:
    """A CPU's buffer, as recorder_relay.c finds it."""

    def __init__(self, fake: Fake, cpu: int, mapped: bool, subbufs: Sequence[Filled]) -> None:
        self.state, self.mapped, self.subbufs = fake.folder / f"cpu{cpu}.state", mapped, subbufs
        image = b"".join((bytes(HEAD) + s.records()).ljust(SIZE, b"\0") for s in subbufs)
        (fake.folder / f"cpu{cpu}").write_bytes(image)
        self.show(0, 0)

    def show(self, ready: int, last: int) -> None:
        """Show `ready` full sub-buffers, and `last` CALLs in the one after them."""
        counts = [s.number for s in self.subbufs[:ready]] + [last]
        ends = " ".join(str(HEAD + SLOT * count) for count in counts)
        made = self.state.with_suffix(".new")
        made.write_text(f"{int(self.mapped)} {SIZE} {ready} {ends}\n")
        made.replace(self.state)


def recorded(
    folder: Path, mapped: bool, counts: Sequence[int], shown: Sequence[tuple[int, int]]
) -> tuple[Kbl, Fake]:
    """The file of a recorder which saw the buffer in these states."""
    fake = Fake(folder / f"kbl{int(mapped)}")
    buffer = Buffer(fake, 0, mapped, filled(counts))
    run: Recorder = fake.start("-w", folder / f"{int(mapped)}.kbl").ready()
    for ready, last in shown:
        buffer.show(ready, last)
        time.sleep(0.4)
    assert run.end(signal.SIGINT).returncode == 0
    assert not fake.log("wrong")
    return read(folder / f"{int(mapped)}.kbl"), fake


def starts(kbl: Kbl) -> list[int]:
    """The times at which the CALLs began."""
    return [int(r.head["ts"]) for r in kbl.records]


@pytest.mark.parametrize(
    ("counts", "shown", "given_back"),
    [
        ((WHOLE, WHOLE, 5000, 7), [(3, 7)], [0, 1, 2]),  # the last one is not full
        ((WHOLE, WHOLE), [(0, 3000), (1, 3), (1, 9)], []),  # begun with read()
        ((WHOLE, WHOLE, WHOLE), [(0, 3000), (1, 0), (2, 4)], [1]),
        ((2, WHOLE, 1), [(2, 1)], [0, 1]),  # little in a full one, as after a stop
    ],
    ids=("full", "read", "both", "small"),
)
def test_both_ways_write_the_same(
    tmp_path: Path, counts: list[int], shown: list[tuple[int, int]], given_back: list[int]
) -> None:
    ready, last = shown[-1]
    count = sum(counts[:ready]) + last
    kept, fake = recorded(tmp_path, True, counts, shown)
    plain, other = recorded(tmp_path, False, counts, shown)
    assert fake.log("mapped").split() == [word for n in given_back for word in ("cpu0", str(n))]
    assert other.log("mapped") == ""
    assert starts(kept) == starts(plain) == [FIRST + 1000 * n for n in range(count)]
    assert [r.head.tobytes() for r in kept.records] == [r.head.tobytes() for r in plain.records]
