# SPDX-License-Identifier: MIT
"""A display filter whose words have types: what `check` makes and `evaluate` runs."""

from __future__ import annotations

import re
from dataclasses import dataclass

from ..fields_kind import Field, Kind
from .literals import Range

Value = Range | str | bytes | re.Pattern[str] | re.Pattern[bytes]
Parts = tuple[tuple[int, int | None], ...]


@dataclass(frozen=True)
class Operand:
    """A field and what is done to its values before they are compared; `kind` is of the result."""

    field: Field
    kind: Kind
    parts: Parts | None = None
    mask: int | None = None
    function: str = ""
    every: bool = False

    @property
    def width(self) -> int | None:
        """How many bytes a slice has, None if that depends on the packet."""
        total = 0
        for begin, end in self.parts or ():
            if end is None or (begin < 0 <= end):
                return None
            total += end - begin
        return total


@dataclass(frozen=True)
class Present:
    """The field is there; with a mask: some bit is set."""

    of: Operand


@dataclass(frozen=True)
class Relation:
    """of operator values: the right side is a value or another field of the same rows."""

    operator: str
    of: Operand
    right: Value | Operand


@dataclass(frozen=True)
class Member:
    """of in {values}."""

    of: Operand
    values: tuple[Value | tuple[str, str], ...]


@dataclass(frozen=True)
class Negation:
    of: Plan


@dataclass(frozen=True)
class Joined:
    operator: str
    left: Plan
    right: Plan


@dataclass(frozen=True)
class OneCall:
    """All of `of` is about one call."""

    of: Plan


Plan = Present | Relation | Member | Negation | Joined | OneCall
