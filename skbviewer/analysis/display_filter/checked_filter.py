# SPDX-License-Identifier: MIT
"""The checked form of a display filter: made in `check`, used in `evaluate`."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TypeAlias

from ..fields.field_definition import Field, Kind
from .literals import Range

Value = Range | str | bytes | re.Pattern[str] | re.Pattern[bytes]
Parts = tuple[tuple[int, int | None], ...]


@dataclass(frozen=True)
class Operand:
    """A field with slice, mask and function; `kind` is the type of the result."""

    field: Field
    kind: Kind
    parts: Parts | None = None
    mask: int | None = None
    function: str = ""
    every: bool = False

    @property
    def width(self) -> int | None:
        """Return the number of bytes in the slice; None if that depends on the packet's length."""
        total = 0
        for begin, end in self.parts or ():
            if end is None or (begin < 0 <= end):
                return None
            total += end - begin
        return total


@dataclass(frozen=True)
class Present:
    """The condition that a field is present; with a mask, that one of the mask's bits is set."""

    of: Operand


@dataclass(frozen=True)
class Relation:
    """A comparison by `operator`; `right` is a value, or another field of the same rows."""

    operator: str
    of: Operand
    right: Value | Operand


@dataclass(frozen=True)
class Member:
    """The condition that `of` is one of `values`."""

    of: Operand
    values: tuple[Value | tuple[str, str], ...]


@dataclass(frozen=True)
class Negation:
    """The condition that `of` is not fulfilled."""

    of: Plan


@dataclass(frozen=True)
class Joined:
    """Two conditions joined by `operator`: "and", "or" or "xor"."""

    operator: str
    left: Plan
    right: Plan


@dataclass(frozen=True)
class OneCall:
    """The condition that a single call fulfils all of `of`."""

    of: Plan


Plan: TypeAlias = Present | Relation | Member | Negation | Joined | OneCall


def operands(plan: Plan) -> Iterator[Operand]:
    """Yield all operands (fields with their operations) of a filter, from left to right."""
    match plan:
        case Joined():
            yield from operands(plan.left)
            yield from operands(plan.right)
        case Negation() | OneCall():
            yield from operands(plan.of)
        case Relation() if isinstance(plan.right, Operand):
            yield from (plan.of, plan.right)
        case _:
            yield plan.of
