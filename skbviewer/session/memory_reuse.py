# SPDX-License-Identifier: MIT
"""Reuse freed memory for the next large arrays while an import allocates hundreds of them.

By default, glibc returns each large array to the kernel when it is freed, and the kernel clears the
pages of the next array: this takes a third of an import's time.  See mallopt(3).  The huge pages
for which numpy asks avoid most of this clearing, but if the kernel must compact memory to make huge
pages, they cost more than they save.  So huge pages are used only if enough of them are free
already.  See prctl(2), proc_buddyinfo(5).
"""

from __future__ import annotations

import ctypes
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

M_TRIM_THRESHOLD, M_TOP_PAD, M_MMAP_THRESHOLD = -1, -2, -3  # malloc.h
PR_SET_THP_DISABLE = 41  # sys/prctl.h
HUGE = 9  # a huge page has 1 << HUGE pages, where a page has 4 KiB
MIN_HUGE_PAGES = 640  # huge pages that an import of ten million records uses
BUDDYINFO = Path("/proc/buddyinfo")
DEFAULTS = {M_TRIM_THRESHOLD: 128 << 10, M_TOP_PAD: 0, M_MMAP_THRESHOLD: 128 << 10}
KEEPING = {M_TRIM_THRESHOLD: (1 << 31) - 1, M_TOP_PAD: 512 << 20, M_MMAP_THRESHOLD: 32 << 20}

SPARING = {M_TRIM_THRESHOLD: 64 << 20, M_TOP_PAD: 16 << 20, M_MMAP_THRESHOLD: 4 << 20}


@contextmanager
def reused_memory(sparing: bool = False) -> Iterator[None]:
    """Keep freed memory in the process until the context ends; with `sparing`, only little of it.

    Call this in the main thread only.  If the C library is not glibc, nothing happens.
    """
    libc = ctypes.CDLL(None) if sys.platform == "linux" else None
    if libc is None or not hasattr(libc, "malloc_trim"):
        yield
        return
    if sparing:
        keep_less()
    else:
        _keep_much(libc)
    try:
        yield
    finally:
        for option, value in DEFAULTS.items():
            libc.mallopt(option, value)
        libc.prctl(PR_SET_THP_DISABLE, 0, 0, 0, 0)
        libc.malloc_trim(0)


def _keep_much(libc: ctypes.CDLL) -> None:
    for option, value in KEEPING.items():
        libc.mallopt(option, value)
    libc.prctl(PR_SET_THP_DISABLE, 0 if free_huge_pages() >= MIN_HUGE_PAGES else 1, 0, 0, 0)
    libc.malloc.argtypes, libc.malloc.restype = [ctypes.c_size_t], ctypes.c_void_p
    libc.free.argtypes, libc.free.restype = [ctypes.c_void_p], None
    libc.free(libc.malloc(KEEPING[M_MMAP_THRESHOLD] - 4096))  # makes the heap grow by the pad


def keep_less() -> None:
    """Return freed memory to the kernel now, and later large arrays as soon as they are freed.

    Call this for inputs so large that memory matters more than time.  The effect lasts until the
    end of reused_memory().
    """
    libc = ctypes.CDLL(None) if sys.platform == "linux" else None
    if libc is not None and hasattr(libc, "malloc_trim"):
        for option, value in SPARING.items():
            libc.mallopt(option, value)
        libc.prctl(PR_SET_THP_DISABLE, 1, 0, 0, 0)
        libc.malloc_trim(0)


def free_huge_pages() -> int:
    """Return the number of huge pages that are free; 0 if it is unknown."""
    try:
        zones = [line.split()[4:] for line in BUDDYINFO.read_text("ascii").splitlines()]
        return sum(int(free) << order for zone in zones for order, free in enumerate(zone[HUGE:]))
    except (OSError, ValueError):
        return 0


def give_back() -> None:
    """Return freed memory to the kernel, after work that needed much of it for a short time."""
    libc = ctypes.CDLL(None) if sys.platform == "linux" else None
    if libc is not None and hasattr(libc, "malloc_trim"):
        libc.malloc_trim(0)
