# SPDX-License-Identifier: MIT
"""The number of bytes of each packet that an export keeps."""

from __future__ import annotations

import numpy as np

from ..readers.capture.header_offsets import Place, header_extents
from ..records.types import Int64s, UInt8s

ARP, IPV6, ICMP = 28, 40, 8  # bytes of these headers, of ARP for Ethernet and IPv4
OTHERS = 4  # bytes of other transport headers: ports, or what is there instead


def kept_bytes(caplen: Int64s, headers: Int64s | None, snaplen: int) -> Int64s:
    """Return how many bytes to keep of each packet (int64).

    The result is the least of `caplen`, `headers` (None: no limit) and `snaplen` (0: no limit).
    """
    kept = caplen.copy() if headers is None else np.minimum(caplen, headers)
    return np.minimum(kept, snaplen) if snaplen else kept


def header_bytes(
    data: UInt8s, linktype: Int64s, offset: Int64s, caplen: Int64s, length: Int64s
) -> Int64s:
    """Return the size of each packet's known headers, from link layer to outer transport header.

    For each packet: link type, offset in `data`, captured and original length.

    Everything that is not recognised as a header is payload: the inner headers of a tunnel, a
    packet quoted by ICMP, and all of a packet whose link type is not dissected.
    """
    found = header_extents(data, linktype, offset, caplen, length)
    end = np.where(found["eth"][0] >= 0, offset + 14, offset)
    for name, size in (("arp", ARP), ("ipv6", IPV6)):
        end = _after(end, found[name], size)
    four = found["ip"][0]
    has_four = (four >= 0) & (four < offset + caplen)
    options = (data[np.where(has_four, four, 0)] & 15).astype(np.int64) * 4
    end = np.where(has_four, four + np.maximum(options, 20), end)
    for name in ("icmp", "icmpv6"):
        end = _after(end, found[name], ICMP)
    for name in ("tcp", "udp"):
        end = _after(end, found[name], OTHERS)
        end = _after(end, found[f"{name}.payload"], 0)
    return np.clip(end - offset, 0, caplen)


def _after(end: Int64s, place: Place, size: int) -> Int64s:
    """Return the offsets after headers of `size` bytes; `end` for packets without this header."""
    begin, _ = place
    made: Int64s = np.where(begin >= 0, begin + size, end)
    return made
