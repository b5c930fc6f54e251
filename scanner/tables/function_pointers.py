# SPDX-License-Identifier: MIT
"""Find the functions to which members and variables point, from initialisers and assignments."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple, Protocol

from scanner.facts import FileFacts, Function, Init, TypeRef
from scanner.tables.type_graph import Types

MANY = 400  # most functions that a call through a table of unknown type may reach


class Node(NamedTuple):
    """A function definition and its file."""

    file: str
    function: Function


class Definitions(Protocol):
    """The parts of a call graph that this module needs: functions and variables of a tree."""

    types: Types
    globals: dict[str, TypeRef]

    @property
    def nodes(self) -> Sequence[Node]:
        """Return the function definitions by number."""

    def resolve(self, name: str, file: str) -> tuple[int, ...]:
        """Return the numbers of the functions that the name `name` may mean in `file`."""

    def names(self, number: int) -> dict[str, TypeRef]:
        """Return the types of the parameters and variables of the function `number`, by name."""

    def type_of(self, number: int, path: str) -> TypeRef | None:
        """Return the type of a path in the function `number`; None if it is unknown."""


class Held:
    """The functions to which pointers are set, by (struct, member), by member, and by variable."""

    def __init__(self, graph: Definitions) -> None:
        self._graph = graph
        self._table: dict[tuple[str, str], set[int]] = {}
        self._members: dict[str, set[int]] = {}
        self._variables: dict[tuple[str, str], set[int]] = {}  # by file, "" for those of headers
        self._locals: dict[int, dict[str, set[int]]] = {}

    def initialised(self, files: list[FileFacts]) -> None:
        """Note the functions that initialisers of file-scope variables name."""
        for facts in files:
            for init in facts.inits:
                targets = self._graph.resolve(init.function, facts.path)
                if targets and not init.base:
                    self._add_variable(facts.path, init.field, targets)
                elif targets:
                    self._add_member(*self._place(init, facts.path), targets)

    def assigned(self, number: int) -> None:
        """Note the functions that the function `number` assigns to members and variables."""
        graph = self._graph
        file = graph.nodes[number].file
        local = graph.names(number)
        for assign in graph.nodes[number].function.assigns:
            names = [atom for atom in assign.atoms if atom.isidentifier() and atom not in local]
            targets = {target for name in names for target in graph.resolve(name, file)}
            outer, dot, field = assign.to.rpartition(".")
            if not targets or assign.to in ("return", "="):
                continue
            if dot:
                kind = graph.type_of(number, outer)
                self._add_member(graph.types.strip(kind).base if kind else "", field, targets)
            elif assign.to in local:
                held = self._locals.setdefault(number, {})
                held.setdefault(assign.to, set()).update(targets)
            else:
                self._add_variable(file, assign.to, targets)

    def by_member(self, number: int, field: str, pointer: str, count: int) -> tuple[int, ...]:
        """Return the functions that a call of ``pointer->field`` may reach, in function `number`.

        If the type of `pointer` is unknown, the result is the functions with as many parameters as
        the call has arguments (`count`); if there are more than MANY of these, the result is empty.
        """
        if field not in self._members:
            return ()
        graph = self._graph
        kind = graph.type_of(number, pointer) if pointer else None
        if kind is not None:
            return tuple(sorted(self._table.get((graph.types.strip(kind).base, field), set())))
        fitting = [n for n in self._members[field] if self._takes(n, count)]
        return tuple(sorted(fitting)) if len(fitting) <= MANY else ()

    def by_variable(self, number: int, name: str) -> tuple[int, ...]:
        """Return the functions to which the variable `name`, or its elements, may point.

        `number` is the function in which the variable is used.
        """
        if name in self._graph.names(number):
            return tuple(sorted(self._locals.get(number, {}).get(name, set())))
        own = self._variables.get((self._graph.nodes[number].file, name))
        return tuple(sorted(own or self._variables.get(("", name), set())))

    def _takes(self, number: int, count: int) -> bool:
        return len(self._graph.nodes[number].function.params) == count

    def _add_member(self, base: str, field: str, targets: Iterable[int]) -> None:
        if field:
            self._table.setdefault((base, field), set()).update(targets)
            self._members.setdefault(field, set()).update(targets)

    def _add_variable(self, file: str, name: str, targets: Iterable[int]) -> None:
        self._variables.setdefault((file, name), set()).update(targets)
        if name in self._graph.globals:
            self._variables.setdefault(("", name), set()).update(targets)

    def _place(self, init: Init, file: str) -> tuple[str, str]:
        """Return the struct and the member that an initialiser sets; unknown ones are ""."""
        types = self._graph.types
        base = TypeRef(types.base(init.base, file))
        outer, _, field = self._spelt(base, init.field).rpartition(".")
        inner = types.member(base, outer) if outer else base
        return types.strip(inner).base if inner else "", field

    def _spelt(self, base: TypeRef, path: str) -> str:
        """Return the path with the names of members in place of their positions.

        Returns "" if the struct has no such member.
        """
        if "#" not in path:
            return path
        types = self._graph.types
        kind: TypeRef | None = base
        spelt: list[str] = []
        for part in path.split("."):
            name = part
            if part.startswith("#"):
                if spelt and kind and kind.stars > kind.function:  # an element of an array
                    kind = TypeRef(kind.base, kind.stars - 1, kind.function)
                    continue
                names = self._names(kind) if kind else self._names(base, ".".join([*spelt, ""]))
                place = int(part[1:])
                if place >= len(names):
                    return ""
                name = names[place]
            spelt.append(name)
            kind = types.member(base, ".".join(spelt))
        return ".".join(spelt)

    def _names(self, kind: TypeRef, inside: str = "") -> list[str]:
        """Return the members of a struct in order.

        If `inside` is "m.", returns the members of the struct's member m.
        """
        types = self._graph.types
        members = types.members.get(types.strip(kind).base, {})
        own = [m.removeprefix(inside) for m in members if m.startswith(inside)]
        return list(dict.fromkeys(member.partition(".")[0] for member in own))
