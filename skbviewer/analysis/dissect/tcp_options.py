# SPDX-License-Identifier: MIT
"""Options of a TCP header, as Wireshark's Info shows them: " MSS=1460 SACK_PERM WS=128".

Input: the bytes of the options.  The text ends before an option that is truncated.
"""

from __future__ import annotations

from collections.abc import Iterator

MSS, WINDOW_SCALE, SACK_PERMITTED, SACK, TIMESTAMPS, MD5 = 2, 3, 4, 5, 8, 19
END, NOP = 0, 1
LARGEST_SHIFT = 14  # RFC 7323, 2.3


def parse_options(data: bytes) -> Iterator[tuple[int, bytes]]:
    """Yield (kind, value) of each option except END and NOP (RFC 9293, 3.2)."""
    at = 0
    while at < len(data) and data[at] != END:
        size = 1 if data[at] == NOP else data[at + 1] if at + 1 < len(data) else 0
        if size == 0 or (size < 2 and data[at] != NOP) or at + size > len(data):
            return
        if data[at] != NOP:
            yield data[at], data[at + 2 : at + size]
        at += size


def options_text(data: bytes, base: int = 0) -> str:
    """Return the options as text, with the edges of SACK blocks relative to the number `base`."""
    return "".join(_text(kind, value, base) for kind, value in parse_options(data))


def _text(kind: int, value: bytes, base: int) -> str:
    if kind == MSS and len(value) == 2:
        return f" MSS={int.from_bytes(value, 'big')}"
    if kind == WINDOW_SCALE and len(value) == 1:
        return f" WS={1 << min(value[0], LARGEST_SHIFT)}"
    if kind == SACK_PERMITTED:
        return " SACK_PERM"
    if kind == SACK:
        edges = [int.from_bytes(value[at : at + 4], "big") for at in range(0, len(value) - 3, 4)]
        pairs = zip(edges[::2], edges[1::2], strict=False)
        return "".join(
            f" SLE={left - base & 0xFFFFFFFF} SRE={right - base & 0xFFFFFFFF}"
            for left, right in pairs
        )
    if kind == TIMESTAMPS and len(value) == 8:
        sent, echoed = int.from_bytes(value[:4], "big"), int.from_bytes(value[4:], "big")
        return f" TSval={sent} TSecr={echoed}"
    return {MD5: " MD5"}.get(kind, "")
