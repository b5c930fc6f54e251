# SPDX-License-Identifier: MIT
"""The keyed hash, compared with SipHash-2-4 written plainly for messages of any length."""

from __future__ import annotations

from random import Random

import numpy as np

from skbviewer.export.pseudonyms.siphash import keyed_hash
from skbviewer.records.compiled import compiled

MASK = (1 << 64) - 1
KEY = bytes(range(16))


@compiled
def hashed(key0: int, key1: int, first: int, second: int, third: int) -> np.int64:
    return keyed_hash(key0, key1, first, second, third)


def rotated(value: int, by: int) -> int:
    return (value << by | value >> (64 - by)) & MASK


def siphash(key: bytes, message: bytes) -> int:
    """SipHash-2-4, from its paper."""
    key0, key1 = (int.from_bytes(part, "little") for part in (key[:8], key[8:]))
    a, b = key0 ^ 0x736F6D6570736575, key1 ^ 0x646F72616E646F6D
    c, d = key0 ^ 0x6C7967656E657261, key1 ^ 0x7465646279746573

    def mixed(a: int, b: int, c: int, d: int) -> tuple[int, int, int, int]:
        a, b, c, d = (a + b) & MASK, rotated(b, 13), (c + d) & MASK, rotated(d, 16)
        b, a, d = b ^ a, rotated(a, 32), d ^ c
        a, d, c, b = (a + d) & MASK, rotated(d, 21), (c + b) & MASK, rotated(b, 17)
        return a, b ^ c, rotated(c, 32), d ^ a

    padded = message + bytes(-(len(message) + 1) % 8) + bytes([len(message) & 255])
    for at in range(0, len(padded), 8):
        word = int.from_bytes(padded[at : at + 8], "little")
        a, b, c, d = mixed(*mixed(a, b, c, d ^ word))
        a ^= word
    a, b, c, d = mixed(*mixed(*mixed(*mixed(a, b, c ^ 0xFF, d))))
    return a ^ b ^ c ^ d


def test_the_plain_computation_gives_the_published_values() -> None:
    assert siphash(KEY, bytes(range(15))) == 0xA129CA6149BE45E5
    assert siphash(KEY, b"") == 0x726FDB47DD0E0E31


def test_the_compiled_hash_is_siphash() -> None:
    random = Random(1)
    for _ in range(200):
        key, message = random.randbytes(16), random.randbytes(24)
        words = np.frombuffer(key + message, "<i8")
        assert int(hashed(*words)) & MASK == siphash(key, message)
