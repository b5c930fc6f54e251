# SPDX-License-Identifier: MIT
"""The points of one pass over events, in columns."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import numpy.typing as npt

from ...records.compiled import allocation_free
from ...records.types import Bools, Int32s, Int64s, UInt8s
from .event_json import EventValues
from .event_keys import FIRST_TEXT, NUMBERS, PLACES, TEXTS
from .event_rows import Scanned
from .numbers_by_hash import SECRET, hash_of
from .numbers_by_hash_loops import UInt64s, combined_hash, span_hash

Spans = npt.NDArray[np.int32]

# The value of a number that an event lacks: 0 for an address or a time of tracking.
UNKNOWN = np.array([0 if name.endswith(("skb", "tracked", "head")) else -1 for name in NUMBERS])
SECTIONS = len(TEXTS)  # index of the hash of all sections together


class EventBlock:
    """The numbers and texts of points, by their names in event_keys.py."""

    def __init__(
        self, text: UInt8s, rows: Scanned, points: Int64s, others: Mapping[int, EventValues]
    ) -> None:
        """Use the rows with the numbers `points`; `others` are values from JSON's parser."""
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
        self._columns = np.empty((len(NUMBERS), count), np.int64)
        self._hashes = np.empty((len(TEXTS) + 1, count), np.uint64)
        _gather(
            text, self._seen, self._numbers, self._texts, self.raws, self.raw, UNKNOWN, SECRET,
            self._columns, self._hashes,
        )  # fmt: skip
        for at, values in self._others.items():
            for name, raw in values.texts.items():
                self._seen[at] |= 1 << PLACES[name]
                self._hashes[TEXTS.index(name), at] = hash_of(raw)
            self._hashes[SECTIONS, at] = hash_of(values.sections) if values.sections else 0

    def __len__(self) -> int:
        return len(self._seen)

    def has(self, name: str) -> Bools:
        """Return for each point whether it has a number or text named `name`."""
        return np.asarray(self._seen >> PLACES[name] & 1, np.bool_)

    def number(self, name: str) -> Int64s:
        """Return the number `name` of each point, as signed 64 bits."""
        column: Int64s = self._columns[PLACES[name]]
        return column

    def hashes(self, name: str) -> UInt64s:
        """Return a hash of each point's text; 0 if the point has none.

        The name "" stands for the JSON sections that are kept.
        """
        made: UInt64s = self._hashes[TEXTS.index(name) if name else SECTIONS]
        return made

    def spans(self, name: str) -> Spans:
        """Return (begin, end) of each point's text `name`, in the bytes of the block.

        For points whose text given() returns, (begin, end) is empty.
        """
        return np.asarray(self._texts[:, TEXTS.index(name)])

    def given(self, name: str) -> dict[int, bytes]:
        """Return the texts `name` that are not in the block, because JSON's parser read them.

        The keys of the result are indices of points.
        """
        return {at: v.texts[name] for at, v in self._others.items() if name in v.texts}

    def text_of(self, name: str, point: int) -> bytes:
        """Return the text `name` of the point with index `point`."""
        if point in self._others:
            return self._others[point].texts[name]
        begin, end = map(int, self._texts[point, TEXTS.index(name)])
        return self.text[begin:end].tobytes()

    def sections_of(self, point: int) -> str:
        """Return the sections of one point that are kept, as a JSON object."""
        if point in self._others:
            return self._others[point].sections.decode()
        spans = self.raw[point, : self.raws[point]].tolist()
        parts = (self.text[begin:end].tobytes().decode("ascii") for begin, end in spans)
        return f"{{{','.join(parts)}}}"


@allocation_free
def _gather(
    text: UInt8s,
    seen: Int64s,
    numbers: UInt64s,
    texts: Spans,
    raws: Int32s,
    raw: Spans,
    unknown: Int64s,
    secret: UInt64s,
    columns: Int64s,
    hashes: UInt64s,
) -> None:
    """Fill `columns` and `hashes`, which have a row for each kind of number or text."""
    for row in range(len(seen)):
        has = seen[row]
        for place in range(len(columns)):
            known = has >> place & 1
            columns[place, row] = np.int64(numbers[row, place]) if known else unknown[place]
        for place in range(SECTIONS):
            hashes[place, row] = 0
            if has >> (FIRST_TEXT + place) & 1:
                span = texts[row, place]
                hashes[place, row] = span_hash(text, span[0], span[1], secret)
        together = np.uint64(0)
        for part in range(raws[row]):
            span = raw[row, part]
            together = combined_hash(together, span_hash(text, span[0], span[1], secret), secret)
            together |= np.uint64(1)
        hashes[SECTIONS, row] = together
