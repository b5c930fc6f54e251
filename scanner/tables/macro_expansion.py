# SPDX-License-Identifier: MIT
"""Function-like macros, flattened into the calls that each use of them makes."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from scanner.facts import Call, Function
from scanner.source.visible_macros import Visible

Atoms = tuple[str, ...]
REST = "__VA_ARGS__"
LONGEST = 60  # most calls of a macro; macros with more are tables of code
DEEPEST = 12  # deepest nesting of macros in macros


class Flat(NamedTuple):
    """A call that a macro makes (directly or through other macros), written with its parameters.

    The roots of the atoms in `args` are parameters of the macro.
    """

    callee: str
    how: str
    args: tuple[Atoms, ...]
    pointer: str


class Macros:
    """The function-like macros of a tree; macros that call nothing of the tree are left out.

    Every method takes the file that uses the macro, because several macros may have the same name.
    """

    def __init__(self, visible: Visible, functions: frozenset[str]) -> None:
        self._visible = visible
        self._functions = functions
        # By name and file; the file is "" if all names in the macro mean the same in all files.
        self._flat: dict[tuple[str, str], tuple[list[Flat], frozenset[str]]] = {}
        self._active: set[str] = set()
        self._met: set[str] = set()

    def known(self, name: str, file: str) -> bool:
        """Return whether `name` is a macro in `file`."""
        return bool(self._visible.find(name, file))

    def flat(self, name: str, file: str) -> list[Flat]:
        """Return the calls that a macro makes; expansion stops at a macro that contains itself."""
        kept = self._kept(name, file)
        if kept is not None:
            self._met |= kept[1]
            return kept[0]
        self._met.add(name)
        if name in self._active or len(self._active) >= DEEPEST:
            return []
        if not self._active:
            self._met = {name}
        self._active.add(name)
        found: dict[Flat, None] = {}
        definitions = self._visible.find(name, file)
        for macro in definitions:
            for call in self._calls(macro, file):
                found[_renamed(call, macro, definitions[0])] = None
                if len(found) >= LONGEST:
                    break
        self._active.discard(name)
        whole = list(found)
        if not self._active:
            met = frozenset(self._met)
            place = "" if self._visible.plain(met) else file
            self._flat[name, place] = whole, met
        return whole

    def _kept(self, name: str, file: str) -> tuple[list[Flat], frozenset[str]] | None:
        return self._flat.get((name, "")) or self._flat.get((name, file))

    def _calls(self, macro: Function, file: str) -> Iterator[Flat]:
        params = {p.name for p in macro.params}
        for call in macro.calls:
            if call.callee in params or call.how != "name" or call.callee in self._functions:
                yield Flat(call.callee, call.how, _deep(call.args, macro), call.pointer)
            if call.how == "name" and (inner := self._visible.find(call.callee, file)):
                given = _deep(call.args, macro)
                for flat in self.flat(call.callee, file):
                    yield substitute(flat, inner[0], given)

    def at(self, call: Call, file: str) -> Iterator[Flat]:
        """Yield the calls that a use of a macro (`call` in `file`) makes, with its arguments."""
        for macro in self._visible.find(call.callee, file)[:1]:
            for flat in self.flat(call.callee, file):
                yield substitute(flat, macro, call.args)

    def result(self, name: str, file: str) -> Atoms:
        """Return the atoms (see facts.Call) of the value of a macro that is an expression."""
        found: Atoms = ()
        for macro in self._visible.find(name, file)[:2]:
            for assign in macro.assigns:
                if assign.to == "return":
                    found += assign.atoms
        return found

    def value(self, name: str, file: str) -> Flat | None:
        """Return the call whose result is the value of the macro; None if there is no such call."""
        macro = self.first(name, file)
        values = [assign.atoms for assign in macro.assigns if assign.to == "return"]
        if len(values) != 1 or len(values[0]) != 1 or not values[0][0].startswith("@"):
            return None
        number, dot, _ = values[0][0][1:].partition(".")
        if dot or int(number) >= len(macro.calls):
            return None
        call = macro.calls[int(number)]
        return Flat(call.callee, call.how, _deep(call.args, macro), call.pointer)

    def first(self, name: str, file: str) -> Function:
        """Return the first definition of the macro `name` that `file` sees."""
        return self._visible.find(name, file)[0]


def _renamed(call: Flat, macro: Function, first: Function) -> Flat:
    """Return a call with the parameters of another definition of the same macro."""
    if macro.params == first.params:
        return call
    return substitute(call, macro, tuple((p.name,) for p in first.params))


def _deep(args: tuple[Atoms, ...], macro: Function) -> tuple[Atoms, ...]:
    """Return `args`; references to a macro call's result become the call's arguments."""

    def open_call(atom: str, depth: int) -> Atoms:
        number = atom[1:].partition(".")[0]
        if not atom.startswith("@") or depth > 4 or not number.isdigit():
            return (atom,)
        inner = macro.calls[int(number)].args if int(number) < len(macro.calls) else ()
        return tuple(a for atoms in inner for x in atoms for a in open_call(x, depth + 1))[:12]

    return tuple(tuple(a for atom in atoms for a in open_call(atom, 0)) for atoms in args)


def substitute(flat: Flat, macro: Function, given: tuple[Atoms, ...]) -> Flat:
    """Return the call with the macro's parameters replaced by its arguments."""
    values: dict[str, Atoms] = {}
    args = flat.args
    for index, param in enumerate(macro.params):
        if param.name.endswith("..."):
            rest_name = param.name.removesuffix("...") or REST
            rest = given[index:]
            args = tuple(
                group for atoms in args for group in (rest if atoms == (rest_name,) else (atoms,))
            )
            values[rest_name] = tuple(a for atoms in rest for a in atoms)
            break
        values[param.name] = given[index] if index < len(given) else ()

    def replace(atom: str) -> Atoms:
        root, *fields = atom.split(".")
        # A field can be a parameter too.
        path = "".join([f".{(values.get(field) or (field,))[0]}" for field in fields])
        return tuple([f"{value}{path}" for value in values.get(root, (root,))])

    callee = flat.callee
    if callee in values and len(values[callee]) >= 1:
        callee = values[callee][0]
    pointer = replace(flat.pointer) if flat.pointer else ()
    replaced = tuple(tuple(a for atom in atoms for a in replace(atom))[:24] for atoms in args)
    return Flat(callee, flat.how, replaced, pointer[0] if pointer else "")
