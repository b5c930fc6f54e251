# SPDX-License-Identifier: MIT
"""The points among the events of one pass, as columns."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import numpy.typing as npt

from ...records.types import Bools, Int32s, Int64s, UInt8s
from .event_json import EventValues
from .event_keys import PLACES, TEXTS
from .event_rows import Scanned
from .hashed_numbers import UInt64s

Spans = npt.NDArray[np.int32]


class EventBlock:
    """Points: their numbers and texts, by the names in event_keys.py."""

    def __init__(
        self, text: UInt8s, rows: Scanned, points: Int64s, others: Mapping[int, EventValues]
    ) -> None:
        """`points` are the rows that are points; `others` has those that JSON's parser read."""
        self.text = text
        count = len(points)
        is_all = count == 0 or int(points[-1]) == count - 1  # then without copying
        chosen = slice(count) if is_all else points
        self._seen = rows.seen[chosen]
        self._numbers, self._texts = rows.numbers[chosen], rows.texts[chosen]
        self.raws: Int32s = rows.raws[chosen]
        self.raw: Spans = rows.raw[chosen]
        place = np.searchsorted(points, list(others)).tolist()
        self._others: dict[int, EventValues] = dict(zip(place, others.values(), strict=True))
        for at, values in self._others.items():
            self.raws[at] = 0
            for name, value in values.numbers.items():
                self._seen[at] |= 1 << PLACES[name]
                self._numbers[at, PLACES[name]] = value
            for name in values.texts:
                self._seen[at] |= 1 << PLACES[name]

    def __len__(self) -> int:
        return len(self._seen)

    def has(self, name: str) -> Bools:
        """Which points have this number or text."""
        return np.asarray(self._seen >> PLACES[name] & 1, np.bool_)

    def number(self, name: str, unknown: int = -1) -> Int64s:
        """A number of each point, as signed 64 bits."""
        column: UInt64s = self._numbers[:, PLACES[name]]
        return np.where(self.has(name), column.view(np.int64), unknown)

    def spans(self, name: str) -> Spans:
        """Where a text of each point is in the block, if given() does not have it."""
        return np.asarray(self._texts[:, TEXTS.index(name)])

    def given(self, name: str) -> dict[int, bytes]:
        """The texts ("": sections) of points that JSON's parser read, by point."""
        if not name:
            return {at: v.sections for at, v in self._others.items() if v.sections}
        return {at: v.texts[name] for at, v in self._others.items() if name in v.texts}

    def text_of(self, name: str, point: int) -> bytes:
        """A text of one point."""
        if point in self._others:
            return self._others[point].texts[name]
        begin, end = map(int, self._texts[point, TEXTS.index(name)])
        return self.text[begin:end].tobytes()

    def sections_of(self, point: int) -> str:
        """The sections of one point that are kept, as a JSON object."""
        if point in self._others:
            return self._others[point].sections.decode()
        spans = self.raw[point, : self.raws[point]].tolist()
        parts = (self.text[begin:end].tobytes().decode("ascii") for begin, end in spans)
        return f"{{{','.join(parts)}}}"
