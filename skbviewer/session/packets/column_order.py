# SPDX-License-Identifier: MIT
"""Sort rows by columns that are no filter fields: Source, Destination, Protocol and Info."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from ...store import Columns
from ..annotation_places import RowIds

# The sort keys of each column, the most significant first.  Only packets have the keys _OF_PACKETS.
# Info is sorted in the order of its text: protocol, then type or ports, then flags.
WORDS: dict[str, tuple[str, ...]] = {
    "source": ("ip_version", "saddr_hi", "saddr_lo", "eth_src"),
    "destination": ("ip_version", "daddr_hi", "daddr_lo", "eth_dst"),
    "protocol": ("protocol", "ip_version", "ethertype"),
    "info": ("ethertype", "protocol", "sport", "dport", "tcp_flags", "seq", "ack", "payload"),
}
_OF_PACKETS = ("eth_src", "eth_dst", "payload")
Key = npt.NDArray[np.int64]


def sorted_ids(columns: Columns, ids: RowIds, word: str, descending: bool) -> RowIds:
    """Return `ids` sorted by the column `word`, a key of WORDS; equal rows keep their order."""
    keys = _keys(columns, ids, WORDS[word])
    if descending:
        keys = [~key for key in keys]  # reverses the order without overflow
    return ids[np.lexsort(keys[::-1])]


def _keys(columns: Columns, ids: RowIds, names: Sequence[str]) -> list[Key]:
    """Return the keys by which the rows `ids` are sorted for the columns `names`.

    Addresses are unsigned numbers in int64 columns, so the sign bit of the keys is flipped.
    """
    packets, lives = ids > 0, ids < 0
    rows = _series_rows(columns, -ids[lives])
    found = []
    for name in names:
        key = np.full(len(ids), -1, np.int64)
        key[packets] = columns.take("packet", name, ids[packets] - 1)
        if name not in _OF_PACKETS:
            key[lives] = columns.take("series", name, rows)
        if name.endswith(("_hi", "_lo")):
            key ^= np.int64(-(1 << 63))
        found.append(key)
    return found


def _series_rows(columns: Columns, numbers: RowIds) -> npt.NDArray[np.int64]:
    """Return the 0-based rows of the kernel-only rows K<n> in `series`; `numbers` are the n."""
    if not len(numbers):
        return np.empty(0, np.int64)
    of = columns.array("series", "kernel_only").astype(np.int64)
    at = np.full(max(int(of.max()), 0) + 1, -1, np.int64)
    there = np.flatnonzero(of > 0)
    at[of[there]] = there
    return at[numbers]
