# SPDX-License-Identifier: MIT
"""Texts of points, each different one kept once and numbered."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from ...records.types import Int32s
from ..printable_names import printable
from .event_block import EventBlock
from .hashed_numbers import HashedNumbers, UInt64s, hashes_of_columns, hashes_of_texts


def readable(raw: bytes) -> str:
    """A text from a log as it can be shown."""
    return printable(raw.decode("utf-8", "replace"))


class PointTexts:
    """The different texts of one kind: `values` has them by number."""

    def __init__(self, made: Callable[[bytes], str] = readable) -> None:
        self.values: list[str] = []
        self._numbers, self._made = HashedNumbers(), made

    def of(self, block: EventBlock, name: str) -> Int32s:
        """The number of this text of each point, -1 = it has none."""
        found, new = self._numbers.of(text_hashes(block, name))
        self.values += [self._made(block.text_of(name, row)) for row in new.tolist()]
        return found


class PointSections:
    """The different sections that are kept as JSON, those of one point together."""

    def __init__(self) -> None:
        self.values: list[str] = []
        self._numbers = HashedNumbers()

    def of(self, block: EventBlock) -> Int32s:
        """The number of each point's sections, -1 = it has none."""
        found, new = self._numbers.of(_section_hashes(block))
        self.values += [block.sections_of(row) for row in new.tolist()]
        return found


def text_hashes(block: EventBlock, name: str) -> UInt64s:
    """The hash of a text of each point, 0 = none."""
    given = block.given(name)
    return hashes_of_texts(block.text, block.spans(name), block.has(name), given)


def _section_hashes(block: EventBlock) -> UInt64s:
    """The hash of all sections of each point together, 0 = none."""
    count = block.raws
    made = np.zeros(len(count), np.uint64)
    given = block.given("")
    for part in range(int(count.max(initial=0))):
        has = count > part
        hashes = hashes_of_texts(block.text, block.raw[:, part], has, {})
        mixed = hashes_of_columns(made.view(np.int64), hashes.view(np.int64))
        made[has] = mixed[has]
    if given:
        spans = np.zeros((len(count), 2), np.int32)
        own = hashes_of_texts(block.text, spans, np.zeros(len(count), np.bool_), given)
        made[list(given)] = own[list(given)]
    return made
