# SPDX-License-Identifier: MIT
"""SipHash-2-4 (Aumasson and Bernstein, 2012) of messages of 24 bytes, for compiled loops.

Without the key of 128 bits, nobody can distinguish the hash's values from random numbers.
"""

from __future__ import annotations

import numpy as np

from ...records.compiled import Int, allocation_free

INIT0, INIT1 = 0x736F6D6570736575, 0x646F72616E646F6D
INIT2, INIT3 = 0x6C7967656E657261, 0x7465646279746573
LENGTH = 24 << 56  # the last word: the message's length in the highest byte
WORDS = 4
State = tuple[np.int64, np.int64, np.int64, np.int64]


@allocation_free
def _rotated(value: Int, by: Int) -> np.int64:
    low = (np.int64(value) >> np.int64(64 - by)) & ((np.int64(1) << np.int64(by)) - np.int64(1))
    return (np.int64(value) << np.int64(by)) | low


@allocation_free
def _round(a: Int, b: Int, c: Int, d: Int) -> State:
    a, c = np.int64(a + b), np.int64(c + d)
    b, d = _rotated(b, 13) ^ a, _rotated(d, 16) ^ c
    a = _rotated(a, 32)
    c, a = np.int64(c + b), np.int64(a + d)
    b, d = _rotated(b, 17) ^ c, _rotated(d, 21) ^ a
    return a, b, _rotated(c, 32), d


@allocation_free
def keyed_hash(key0: Int, key1: Int, word0: Int, word1: Int, word2: Int) -> np.int64:
    """Return the SipHash of a message of three words with a key of two words, as signed numbers."""
    a, b = np.int64(key0) ^ np.int64(INIT0), np.int64(key1) ^ np.int64(INIT1)
    c, d = np.int64(key0) ^ np.int64(INIT2), np.int64(key1) ^ np.int64(INIT3)
    for n in range(WORDS):
        word = np.int64(LENGTH)
        if n == 0:
            word = np.int64(word0)
        elif n == 1:
            word = np.int64(word1)
        elif n == 2:
            word = np.int64(word2)
        d ^= word
        a, b, c, d = _round(a, b, c, d)
        a, b, c, d = _round(a, b, c, d)
        a ^= word
    c ^= np.int64(0xFF)
    for _ in range(4):
        a, b, c, d = _round(a, b, c, d)
    return a ^ b ^ c ^ d
