# SPDX-License-Identifier: MIT
"""Consistent pseudonyms of addresses and host names, for recordings that are published.

The same key always gives the same pseudonyms. address_loops.py says which bits of an address its
pseudonym shares, and which addresses do not change.
"""

from __future__ import annotations

import secrets
from collections.abc import Iterable
from hashlib import blake2b
from pathlib import Path

import numpy as np

from ...records import BadInput
from ...records.types import Int64s
from .address_loops import CACHED, Keyed, all_ipv4, all_ipv6, all_mac
from .names_in_texts import Texts

KEY_BYTES = 16
KEY_MOST = 1 << 20  # bytes of a file with a key


def random_key() -> bytes:
    """Return a new random key of KEY_BYTES bytes."""
    return secrets.token_bytes(KEY_BYTES)


def key_of(path: Path) -> bytes:
    """Return the key that a file stands for: the hash of the file's bytes.

    Raises BadInput if the file cannot be read, or has fewer than KEY_BYTES or more than KEY_MOST
    bytes.
    """
    try:
        with path.open("rb") as file:
            data = file.read(KEY_MOST + 1)
    except OSError as error:
        raise BadInput(path, None, f"cannot read: {error.strerror}") from error
    if len(data) < KEY_BYTES:
        raise BadInput(path, None, f"a key has at least {KEY_BYTES} bytes")
    if len(data) > KEY_MOST:
        raise BadInput(path, None, f"a file with a key has at most {KEY_MOST:,} bytes")
    return blake2b(data, digest_size=KEY_BYTES, person=b"skbviewer").digest()


class Pseudonyms:
    """Replaces addresses in arrays and texts, and host names in texts.

    Only one thread at a time may use an object of this class.
    """

    def __init__(self, key: bytes, hosts: Iterable[str] = ()) -> None:
        """Take `key`, of KEY_BYTES bytes, and `hosts`, the names to replace in texts."""
        words = np.frombuffer(key, "<i8", 2)
        self.keyed = Keyed(
            np.int64(words[0]),
            np.int64(words[1]),
            np.zeros((CACHED, 3), np.int64),
            np.zeros((CACHED, 5), np.int64),
        )
        self._key = key
        self._texts = Texts(self, hosts)

    def ipv4(self, values: Int64s) -> Int64s:
        """Return the pseudonyms of IPv4 addresses (int64, any shape; numbers of 32 bits)."""
        distinct, place = np.unique(values, return_inverse=True)
        made = np.empty(len(distinct), np.int64)
        all_ipv4(self.keyed, distinct.astype(np.int64), made)
        return made[place].reshape(np.shape(values))

    def ipv6(self, high: Int64s, low: Int64s) -> tuple[Int64s, Int64s]:
        """Return the pseudonyms of IPv6 addresses; halves are signed (int64, one dimension)."""
        both = np.empty(len(high), [("high", "<i8"), ("low", "<i8")])
        both["high"], both["low"] = high, low
        distinct, place = np.unique(both, return_inverse=True)
        made = np.empty((2, len(distinct)), np.int64)
        upper, lower = (np.ascontiguousarray(distinct[name]) for name in ("high", "low"))
        all_ipv6(self.keyed, upper, lower, made[0], made[1])
        return made[0][place], made[1][place]

    def addresses(self, version: Int64s, high: Int64s, low: Int64s) -> tuple[Int64s, Int64s]:
        """Return the pseudonyms of IPv4 and IPv6 addresses, in the format of a session's columns.

        `version` is 4 or 6; for other versions the halves are returned as they are.
        """
        high, low = np.array(high, np.int64), np.array(low, np.int64)
        four, six = version == 4, version == 6
        low[four] = self.ipv4(low[four])
        high[six], low[six] = self.ipv6(high[six], low[six])
        return high, low

    def mac(self, values: Int64s) -> Int64s:
        """Return the pseudonyms of MAC addresses (int64, numbers of 48 bits; -1 is unknown)."""
        distinct, place = np.unique(values, return_inverse=True)
        made = np.empty(len(distinct), np.int64)
        all_mac(self.keyed, distinct.astype(np.int64), made)
        made[distinct < 0] = distinct[distinct < 0]
        return made[place].reshape(np.shape(values))

    def host(self, name: str) -> str:
        """Return the pseudonym of a host name."""
        hashed = blake2b(name.encode(), digest_size=4, key=self._key, person=b"host").hexdigest()
        return f"host-{hashed}"

    def text(self, text: str) -> str:
        """Return `text` with pseudonyms for all addresses and for the names of hosts."""
        return self._texts.replaced(text)
