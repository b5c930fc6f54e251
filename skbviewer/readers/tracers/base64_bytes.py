# SPDX-License-Identifier: MIT
"""Decode the base64 texts (RFC 4648, with padding) of many packets at once."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from ...records.compiled import Int, allocation_free
from ...records.types import Int64s, UInt8s

ALPHABET = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"
PAD, INVALID = 61, 64
VALUES = np.full(256, INVALID, np.uint8)
VALUES[list(ALPHABET)] = np.arange(64)


def bytes_of_base64(text: UInt8s, spans: npt.NDArray[np.int32]) -> tuple[UInt8s, Int64s]:
    """Return the decoded bytes of base64 texts, one text after the other, and their lengths.

    Text i is text[begin:end], where `spans`[i] is (begin, end).  The length is -1 for a text that
    is not base64.
    """
    lengths = np.empty(len(spans), np.int64)
    made = np.empty(int(np.sum(spans[:, 1] - spans[:, 0], dtype=np.int64)), np.uint8)
    count = int(_decode(text, np.ascontiguousarray(spans), VALUES, made, lengths))
    return made[:count], lengths


@allocation_free
def _decode(
    text: UInt8s, spans: npt.NDArray[np.int32], values: UInt8s, made: UInt8s, lengths: Int64s
) -> Int:
    to = np.int64(0)
    for row in range(len(spans)):
        at, end = np.int64(spans[row, 0]), np.int64(spans[row, 1])
        wrong, begin = (end - at) % 4 != 0, to
        pads = np.int64(0)
        while pads < 2 and end > at and text[end - 1] == PAD:
            pads += 1
            end -= 1
        bits, held = np.int64(0), np.int64(0)
        while at < end:
            value = values[text[at]]
            wrong = wrong or value == INVALID
            bits, held = (bits << 6 | np.int64(value)) & 0xFFFF, held + 6
            if held >= 8:
                held -= 8
                made[to] = bits >> held & 255
                to += 1
            at += 1
        lengths[row] = to - begin
        if wrong:
            to, lengths[row] = begin, -1
    return to
