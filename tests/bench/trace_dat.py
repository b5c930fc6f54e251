# SPDX-License-Identifier: MIT
"""Writes a trace.dat (trace-cmd, version 6) with as many function events as one asks for.

Each event has 24 bytes, as `trace-cmd record -p function` writes one for each function hit; here,
one for each record of a KBL.  Layout: trace-cmd.dat.v6(5), Documentation/trace/ring-buffer.
"""

from __future__ import annotations

from pathlib import Path
from struct import pack

import numpy as np
import numpy.typing as npt

PAGE = 4096
PAGE_HEADER = 16
TYPE_LEN = 6  # data of six times four bytes
MAX_DELTA = (1 << 27) - 1
SYMBOLS = 30_000  # as many functions as a kernel has
BASE, SPACING = 0xFFFFFFFF81000000, 0x200
EVENT = np.dtype(
    [("head", "<u4"), ("type", "<u2"), ("flags", "u1"), ("preempt", "u1"), ("pid", "<i4")]
    + [("ip", "<u8"), ("parent_ip", "<u8")]
)
PER_PAGE = (PAGE - PAGE_HEADER) // EVENT.itemsize
BLOCK_PAGES = 1 << 14

HEADER_PAGE = b"""\tfield: u64 timestamp;\toffset:0;\tsize:8;\tsigned:0;
\tfield: local_t commit;\toffset:8;\tsize:8;\tsigned:1;
\tfield: int overwrite;\toffset:8;\tsize:1;\tsigned:1;
\tfield: char data;\toffset:16;\tsize:4080;\tsigned:1;
"""
HEADER_EVENT = b"""# compressed entry header
\ttype_len    :    5 bits
\ttime_delta  :   27 bits
\tarray       :   32 bits

\tpadding     : type == 29
\ttime_extend : type == 30
\ttime_stamp : type == 31
\tdata max type_len  == 28
"""
FUNCTION = b"""name: function
ID: 1
format:
\tfield:unsigned short common_type;\toffset:0;\tsize:2;\tsigned:0;
\tfield:unsigned char common_flags;\toffset:2;\tsize:1;\tsigned:0;
\tfield:unsigned char common_preempt_count;\toffset:3;\tsize:1;\tsigned:0;
\tfield:int common_pid;\toffset:4;\tsize:4;\tsigned:1;

\tfield:unsigned long ip;\toffset:8;\tsize:8;\tsigned:0;
\tfield:unsigned long parent_ip;\toffset:16;\tsize:8;\tsigned:0;

print fmt: " %ps <-- %ps", (void *)REC->ip, (void *)REC->parent_ip
"""


def write_trace(path: Path, events: int, cpus: int = 4, seed: int = 1) -> int:
    """Write about `events` function events, whole pages of them; returns how many."""
    rng = np.random.default_rng(seed)
    pages = max(1, round(events / PER_PAGE / cpus))
    with path.open("wb") as file:
        head = _head(cpus)
        begin = -(-(len(head) + 16 * cpus) // PAGE) * PAGE
        size = pages * PAGE
        index = b"".join(pack("<QQ", begin + cpu * size, size) for cpu in range(cpus))
        file.write((head + index).ljust(begin, b"\0"))
        for _ in range(cpus):
            for first in range(0, pages, BLOCK_PAGES):
                count = min(BLOCK_PAGES, pages - first)
                file.write(_pages(rng, first, count).data)
    return pages * PER_PAGE * cpus


def _head(cpus: int) -> bytes:
    """Return all up to the index of the CPUs' pages."""
    symbols = b"".join(
        b"%016x T made_up_function_%05d\n" % (BASE + number * SPACING, number)
        for number in range(SYMBOLS)
    )
    names = b"".join(b"%d task-%d\n" % (pid, pid) for pid in range(1000, 1040))
    parts = [
        b"\x17\x08\x44tracing6\0\0\x08" + pack("<I", PAGE),
        b"header_page\0" + pack("<Q", len(HEADER_PAGE)) + HEADER_PAGE,
        b"header_event\0" + pack("<Q", len(HEADER_EVENT)) + HEADER_EVENT,
        pack("<I", 1) + pack("<Q", len(FUNCTION)) + FUNCTION,
        pack("<I", 0),  # event systems
        pack("<I", len(symbols)) + symbols,
        pack("<I", 0),  # printk formats
        pack("<Q", len(names)) + names,
        pack("<I", cpus),
        b"options  \0" + pack("<H", 0),
        b"flyrecord\0",
    ]
    return b"".join(parts)


def _pages(rng: np.random.Generator, first: int, count: int) -> npt.NDArray[np.uint8]:
    """Return pages of the ring buffer: time of the first event, bytes of events, events."""
    pages = np.zeros((count, PAGE), np.uint8)
    span = 1000 * PER_PAGE
    header = pages[:, :PAGE_HEADER].view("<u8")
    header[:, 0] = 1_000_000_000 + (first + np.arange(count)) * span
    header[:, 1] = PER_PAGE * EVENT.itemsize
    events = np.zeros((count, PER_PAGE), EVENT)
    delta = rng.integers(1, 1000, events.shape)
    delta[:, 0] = 0
    events["head"] = TYPE_LEN | np.minimum(delta, MAX_DELTA) << 5
    events["type"], events["pid"] = 1, rng.integers(1000, 1040, (count, 1))
    for name in ("ip", "parent_ip"):
        events[name] = BASE + rng.integers(0, SYMBOLS, events.shape).astype(np.uint64) * SPACING
    body = events.view(np.uint8).reshape(count, -1)
    pages[:, PAGE_HEADER : PAGE_HEADER + body.shape[1]] = body
    return pages
