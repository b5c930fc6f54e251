# SPDX-License-Identifier: MIT
"""Second table: functions that take or return the struct or one of its forms."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from scanner.facts import FileFacts, Function, TypeRef
from scanner.tables.struct_forms import Closure
from scanner.tables.type_graph import Types

RESULT = -1


class Use(NamedTuple):
    """A parameter or result of a function whose type is a form of the struct.

    `where` is the number of the parameter (from 0), or RESULT. `form` is the key of the form in
    Closure, and `level` is the level of this form.
    """

    where: int
    name: str
    type: TypeRef
    form: str
    level: int


class Direct(NamedTuple):
    """A function that uses the struct; `level` is the lowest level of the forms that it uses."""

    file: str
    function: Function
    uses: tuple[Use, ...]
    level: int

    @property
    def mark(self) -> str:
        """Return "D" if the function uses the struct itself, "P & D" if only forms of it."""
        return "D" if self.level == 0 else "P & D"


def uses(
    function: Function, file: str, types: Types, found: Closure, pointers: bool
) -> Iterator[Use]:
    """Yield the parameters and results of a function whose type is a form of the struct.

    With `pointers`, parameters that are pointers to functions count as well.
    """
    listed = [(i, p.name, p.type) for i, p in enumerate(function.params)]
    for index, name, kind in [*listed, (RESULT, "", function.returns)]:
        form = types.base(kind.base, file)
        level = found.level(form)
        if level is not None and (pointers or not kind.function):
            yield Use(index, name, kind, form, level)


def direct(
    files: list[FileFacts], types: Types, found: Closure, pointers: bool = False
) -> list[Direct]:
    """Return the functions that take or return the struct or a form of it, by file and position.

    With `pointers`, parameters that are pointers to functions count as well.
    """
    table = []
    for facts in files:
        for function in facts.functions:
            used = tuple(uses(function, facts.path, types, found, pointers))
            if used:
                table.append(Direct(facts.path, function, used, min(u.level for u in used)))
    return table
