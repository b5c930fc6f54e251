# SPDX-License-Identifier: MIT
"""Copy bytes from one array to another inside compiled loops, and reuse memory for blocks of bytes.

A loop that copies byte by byte with signed indices takes 31 ns for 11 bytes: a negative index
counts from the end of the array, so each index is tested. Copies of a fixed number of bytes by
unsigned indices become one instruction. copy_ahead() takes only 5 ns, but may write some bytes too
many.
"""

from __future__ import annotations

import numpy as np

from ...records.compiled import Int, allocation_free
from ...records.types import UInt8s

AHEAD = 16  # bytes that are copied at once


class Buffer:
    """Memory that is used again for each block of bytes.

    The kernel clears each page of a new large array; that takes longer than writing the block.
    """

    def __init__(self) -> None:
        self._bytes = np.empty(0, np.uint8)

    def of(self, size: int) -> UInt8s:
        """Return `size` bytes of undefined content; arrays of earlier calls become invalid."""
        if size > len(self._bytes):
            self._bytes = np.empty(size + size // 4, np.uint8)
        return self._bytes[:size]


@allocation_free
def copy_ahead(data: UInt8s, begin: Int, end: Int, out: UInt8s, at: Int) -> np.int64:
    """Copy data[begin:end] to out[at:], and up to AHEAD more bytes; return the position after it.

    Both arrays must have AHEAD more bytes at their ends than are needed.
    """
    source, target, size = np.uint64(begin), np.uint64(at), np.uint64(end - begin)
    done = np.uint64(0)
    while done < size:
        for i in range(np.uint64(AHEAD)):
            out[target + done + i] = data[source + done + i]
        done += np.uint64(AHEAD)
    return np.int64(at + end - begin)


@allocation_free
def copy_exactly(data: UInt8s, begin: Int, end: Int, out: UInt8s, at: Int) -> np.int64:
    """Copy data[begin:end] to out[at:]; return the position after the copy."""
    source, target, size = np.uint64(begin), np.uint64(at), np.uint64(end - begin)
    done = np.uint64(0)
    while done + np.uint64(AHEAD) <= size:
        for i in range(np.uint64(AHEAD)):
            out[target + done + i] = data[source + done + i]
        done += np.uint64(AHEAD)
    while done < size:
        out[target + done] = data[source + done]
        done += np.uint64(1)
    return np.int64(at + end - begin)
