# SPDX-License-Identifier: MIT
"""The rows that are marked, ignored or time references: one bit for each row of the recording."""

from __future__ import annotations

import numpy as np

from skbviewer.records.annotation import FLAGS

from ..base.recording_interface import RowIds


class FlagSets:
    """Flags of the packets from 1 to `packets`, and of the rows from K1 to K<kernel_only>."""

    def __init__(self, packets: int = 0, kernel_only: int = 0) -> None:
        self._kernel_only = kernel_only
        # index: id + kernel_only, so rows K<n> come before the packets
        self._bits = {kind: np.zeros(packets + kernel_only + 1, np.bool_) for kind in FLAGS}

    def has(self, kind: str, row_id: int) -> bool:
        """Return whether a row has the flag `kind`."""
        bits = self._bits[kind]
        at = row_id + self._kernel_only
        return bool(bits[at]) if 0 <= at < len(bits) else False

    def put(self, kind: str, ids: RowIds, on: bool) -> None:
        """Set the flag `kind` on the rows `ids` if `on`; otherwise, clear it."""
        self._bits[kind][ids + self._kernel_only] = on

    def those(self, kind: str, ids: RowIds, on: bool = True) -> RowIds:
        """Return the rows in `ids` that have the flag `kind` if `on`, or else those without it."""
        found: RowIds = ids[self._bits[kind][ids + self._kernel_only] == on]
        return found

    def all(self, kind: str) -> RowIds:
        """Return the ids of all rows that have the flag `kind`, in ascending order."""
        found: RowIds = np.flatnonzero(self._bits[kind]) - self._kernel_only
        return found

    def count(self, kind: str) -> int:
        """Return the number of rows that have the flag `kind`."""
        return int(np.count_nonzero(self._bits[kind]))
