# SPDX-License-Identifier: MIT
"""An import takes cleared pages from the kernel once, and gives them back."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from skbviewer.session import memory_reuse

MEASURE = """
import resource
import numpy as np
from skbviewer.session.memory_reuse import reused_memory

def clearing():
    begin = resource.getrusage(resource.RUSAGE_SELF).ru_minflt
    for _ in range(30):
        np.full(6_000_000, -1)
    return resource.getrusage(resource.RUSAGE_SELF).ru_minflt - begin

def resident():
    return int(open("/proc/self/statm").read().split()[1]) * 4096

outside = clearing()
with reused_memory():
    clearing()
    inside = clearing()
print(outside, inside, clearing(), resident())
"""


def test_freed_memory_is_used_again() -> None:
    done = subprocess.run(
        [sys.executable, "-c", MEASURE], capture_output=True, text=True, check=True
    )
    outside, inside, after, resident = map(int, done.stdout.split())
    assert inside < outside / 4
    assert after > outside / 4  # as before
    assert resident < 200 << 20


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("Node 0, zone    DMA32  9  9  9  9  9  9  9  9  9  3  5\n" * 2, 26),
        ("Node 0, zone   Normal  9  9  9  9  9  9  9  9  9\n", 0),
        ("of another kind: 1 2 3 4 5 6 7 8 9 x\n", 0),
        ("", 0),
    ],
)
def test_huge_pages_are_counted_that_need_no_work(
    text: str, found: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    info = tmp_path / "buddyinfo"
    monkeypatch.setattr(memory_reuse, "BUDDYINFO", info)
    assert memory_reuse.free_huge_pages() == 0
    info.write_text(text)
    assert memory_reuse.free_huge_pages() == found
