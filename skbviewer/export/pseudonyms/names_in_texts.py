# SPDX-License-Identifier: MIT
"""Find addresses and host names in texts, and replace them."""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import lru_cache
from ipaddress import AddressValueError, IPv4Address, IPv6Address
from typing import Protocol

import numpy as np

from ...records.types import Int64s

# Texts that may be addresses, longest first.  A parser decides which of them are.  What stands
# around an address may be anything that cannot be a part of it, such as dump_10.9.0.1.pcap; two
# dots are those of a range.
CANDIDATE = re.compile(
    r"(?<![A-Za-z0-9:])(?<![A-Za-z0-9]\.)(?:[0-9a-fA-F]{2}(?:[:-][0-9a-fA-F]{2}){5}"
    r"|[0-9a-fA-F]{4}(?:\.[0-9a-fA-F]{4}){2}"
    r"|[0-9a-fA-F:]*:[0-9a-fA-F:]*:\d{1,3}(?:\.\d{1,3}){3}"
    r"|[0-9a-fA-F:]*:[0-9a-fA-F:]*:[0-9a-fA-F:]*)(?![A-Za-z0-9])"
    r"|(?<!\d)(?<!\d\.)\d{1,3}(?:\.\d{1,3}){3}(?!\d)"
)
MAC = re.compile(r"[0-9a-fA-F]{2}(?:[:-][0-9a-fA-F]{2}){5}|[0-9a-fA-F]{4}(?:\.[0-9a-fA-F]{4}){2}")
HALF = 1 << 64
REMEMBERED = 1 << 16


class Addresses(Protocol):
    """The methods of Pseudonyms that are needed to replace addresses in texts."""

    def ipv4(self, values: Int64s) -> Int64s:
        """Return the pseudonyms of IPv4 addresses (numbers of 32 bits)."""

    def ipv6(self, high: Int64s, low: Int64s) -> tuple[Int64s, Int64s]:
        """Return the pseudonyms of IPv6 addresses; halves are signed numbers of 64 bits."""

    def mac(self, values: Int64s) -> Int64s:
        """Return the pseudonyms of MAC addresses (numbers of 48 bits)."""

    def host(self, name: str) -> str:
        """Return the pseudonym of a host name."""


class Texts:
    """Replaces addresses and host names in texts."""

    def __init__(self, addresses: Addresses, hosts: Iterable[str]) -> None:
        self._addresses = addresses
        names = sorted({name for name in hosts if name}, key=len, reverse=True)
        words = "|".join(map(re.escape, names))
        found = rf"(?<![A-Za-z0-9])(?:{words})(?![A-Za-z0-9])"
        self._hosts = re.compile(found, re.IGNORECASE) if names else None
        self._names = {name.lower(): name for name in names}
        self.replaced = lru_cache(REMEMBERED)(self._replaced)

    def _replaced(self, text: str) -> str:
        made = CANDIDATE.sub(lambda found: self._address(found[0]), text)
        if self._hosts is None:
            return made
        return self._hosts.sub(lambda found: self._host(found[0]), made)

    def _address(self, text: str) -> str:
        if MAC.fullmatch(text):
            return self._mac(text)
        try:
            return self._four(text) if ":" not in text else self._six(text)
        except AddressValueError:
            # Such as "fe80::1:" before a blank: a colon that is punctuation.
            return self._address(text[:-1]) + ":" if text.endswith(":") else text

    def _host(self, text: str) -> str:
        """Return the pseudonym of a host name; upper and lower case make no difference."""
        return self._addresses.host(self._names[text.lower()])

    def _mac(self, text: str) -> str:
        number = int(re.sub("[:.-]", "", text), 16)
        (made,) = self._addresses.mac(np.array([number])).tolist()
        size = 4 if "." in text else 2  # digits between two separators
        return text[size].join(f"{made:012x}"[at : at + size] for at in range(0, 12, size))

    def _four(self, text: str) -> str:
        (made,) = self._addresses.ipv4(np.array([int(IPv4Address(text))])).tolist()
        return str(IPv4Address(made))

    def _six(self, text: str) -> str:
        number = int(IPv6Address(text))
        halves = np.array([number // HALF, number % HALF], np.uint64).astype(np.int64)
        high, low = self._addresses.ipv6(halves[:1], halves[1:])
        return str(IPv6Address((int(high[0]) % HALF) * HALF + int(low[0]) % HALF))
