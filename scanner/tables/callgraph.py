# SPDX-License-Identifier: MIT
"""The calls between functions: by name, in macros, by callbacks, through tables of operations."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from scanner.facts import Call, FileFacts, TypeRef
from scanner.source.architectures import architecture, order
from scanner.source.visible_macros import Visible
from scanner.tables.function_pointers import Held, Node
from scanner.tables.macro_expansion import DEEPEST, Atoms, Flat, Macros, substitute
from scanner.tables.type_graph import Types

_NUMBERS = frozenset(("offsetof", "offsetofend", "sizeof_field"))  # macros given types


class Edge(NamedTuple):
    """A call that one function makes: the functions it may reach (`targets`), and its arguments.

    `by` is the kind of call: "call", "macro M", "callback of F", "table" (through a member that
    points to functions) or "pointer" (through a variable that does). `used` means that the result
    is used. `number` is the call's index in the calls of its function.
    """

    targets: tuple[int, ...]
    args: tuple[Atoms, ...]
    line: int
    used: bool
    by: str
    number: int


class CallGraph:
    """The functions by number (nodes), and the calls that each of them makes (edges)."""

    def __init__(self, files: list[FileFacts], types: Types, main: str = "") -> None:
        """Make the graph; `main` is the architecture that represents all, or ""."""
        self.types = types
        self.main = main
        self.nodes = [Node(f.path, function) for f in files for function in f.functions]
        self.by_file: dict[tuple[str, str], list[int]] = {}
        self.by_name: dict[str, list[int]] = {}
        for number, node in enumerate(self.nodes):
            name = node.function.name
            self.by_file.setdefault((node.file, name), []).append(number)
            if not node.function.static or node.file.endswith(".h"):
                self.by_name.setdefault(name, []).append(number)
        self._seen: dict[tuple[str, str], tuple[int, ...]] = {}
        self.copies = self._copies()
        known = frozenset(name for _, name in self.by_file)
        self.macros = Macros(Visible(files, types.includes, main), known)
        self.variables = {f.path: {v.name: v.type for v in f.variables} for f in files}
        self.globals: dict[str, TypeRef] = {}
        for facts in files:
            if facts.path.endswith(".h"):
                self.globals.update((v.name, v.type) for v in facts.variables)
        self._names: dict[int, dict[str, TypeRef]] = {}
        self._held = Held(self)
        self._held.initialised(files)
        for number in range(len(self.nodes)):
            self._held.assigned(number)
        self._callbacks = self._parameter_calls()
        numbers = range(len(self.nodes))
        self.edges = [() if n in self.copies else tuple(self._edges(n)) for n in numbers]
        self.callers: list[set[int]] = [set() for _ in self.nodes]
        for number, edges in enumerate(self.edges):
            for edge in edges:
                for target in edge.targets:
                    self.callers[target].add(number)

    def resolve(self, name: str, file: str) -> tuple[int, ...]:
        """Return the numbers of the functions that the name `name` may mean in `file`."""
        own = self.by_file.get((file, name))
        if own:
            return tuple(own)
        found = self.by_name.get(name, ())
        if len(found) < 2:
            return tuple(found)
        key = name, architecture(file)
        known = self._seen.get(key)
        if known is None:
            known = self._seen[key] = self._of_one(found, key[1])
        return known

    def _of_one(self, numbers: list[int], near: str) -> tuple[int, ...]:
        """Return the definitions that belong to all architectures, and those of one architecture.

        The one architecture is `near` if `near` has a definition, else the architecture that
        represents all.
        """
        homes = {n: architecture(self.nodes[n].file) for n in numbers}
        named = set(homes.values()) - {""}
        first = near if near in named else self.main
        one = min(named, key=lambda name: order(name, first), default="")
        return tuple(n for n in numbers if homes[n] in ("", one))

    def _copies(self) -> frozenset[int]:
        """Return the functions of architectures other than the one that represents all."""
        found: set[int] = set()
        for numbers in self.by_name.values():
            if len(numbers) > 1:
                found.update(set(numbers).difference(self._of_one(numbers, "")))
        return frozenset(found)

    def names(self, number: int) -> dict[str, TypeRef]:
        """Return the types of the parameters and variables of the function `number`, by name."""
        known = self._names.get(number)
        if known is None:
            node = self.nodes[number]
            known = {v.name: v.type for v in node.function.variables}
            known.update((p.name, p.type) for p in node.function.params)
            self._names[number] = known
        return known

    def type_of(self, number: int, path: str, depth: int = 0) -> TypeRef | None:
        """Return the type of a path (see facts.Call) in the function `number`; None if unknown."""
        root, dot, rest = path.partition(".")
        file = self.nodes[number].file
        kind: TypeRef | None
        if root.startswith("@"):
            kind = self._result(number, int(root[1:]), depth)
        elif root.startswith("("):
            kind = TypeRef(self.types.base(root[1:], file), 1)
        else:
            kind = self.names(number).get(root) or self.variables[file].get(root)
            kind = kind or self.globals.get(root)
            kind = self.types.seen_from(kind, file) if kind else None
        return self.types.member(kind, rest) if kind and dot else kind

    def _result(self, number: int, index: int, depth: int) -> TypeRef | None:
        """Return the type of the value of a call."""
        node = self.nodes[number]
        if depth > 6 or index >= len(node.function.calls):
            return None
        call = node.function.calls[index]
        if given := self._given_type(node.file, call.args):
            return given
        for target in self.resolve(call.callee, node.file) if call.how == "name" else ():
            callee = self.nodes[target]
            return self.types.seen_from(callee.function.returns, callee.file)
        if call.how == "name" and self.macros.known(call.callee, node.file):
            return self._macro_type(number, call, depth)
        return None

    def _given_type(self, file: str, args: tuple[Atoms, ...]) -> TypeRef | None:
        """Return the struct to which the result of a macro such as container_of points."""
        for atoms in args:
            for atom in atoms:
                if atom.startswith(("struct_", "union_")):
                    tag, _, name = atom.partition("_")
                    return TypeRef(self.types.base(f"{tag} {name}", file), 1)
        return None

    def _macro_type(self, number: int, call: Call, depth: int) -> TypeRef | None:
        file = self.nodes[number].file
        macro = self.macros.first(call.callee, file)
        inner = self.macros.value(call.callee, file)
        if inner:
            return self._value_type(number, substitute(inner, macro, call.args), depth + 1)
        atoms = self.macros.result(call.callee, file)
        for atom in sorted(atoms, key=lambda a: not a.startswith("(")):
            if atom.startswith("("):
                return self.type_of(number, atom, depth + 1)
            if atom.startswith("@"):
                continue
            flat = substitute(Flat("", "", ((atom,),), ""), macro, call.args)
            for value in flat.args[0]:
                kind = self.type_of(number, value, depth + 1)
                if kind:
                    return kind
        return None

    def _value_type(self, number: int, value: Flat, depth: int) -> TypeRef | None:
        """Return the type of the value of a call inside a macro."""
        file = self.nodes[number].file
        if depth > DEEPEST or value.how != "name" or value.callee in _NUMBERS:
            return None
        if given := self._given_type(file, value.args):
            return given
        if targets := self.resolve(value.callee, file):
            callee = self.nodes[targets[0]]
            return self.types.seen_from(callee.function.returns, callee.file)
        if not self.macros.known(value.callee, file):
            return None
        return self._macro_type(number, Call(value.callee, "name", value.args, 0, "="), depth + 1)

    def _parameter_calls(self) -> dict[int, list[Flat]]:
        """Return each function's calls through its own parameters, such as okfn of NF_HOOK."""
        found: dict[int, list[Flat]] = {}
        for number, node in enumerate(self.nodes):
            pointers = {p.name for p in node.function.params}
            for call in node.function.calls:
                if call.how in ("name", "pointer") and call.callee in pointers:
                    found.setdefault(number, []).append(Flat(call.callee, "name", call.args, ""))
        return found

    def _edges(self, number: int) -> Iterator[Edge]:
        node = self.nodes[number]
        local = self.names(number)
        for index, call in enumerate(node.function.calls):
            used = call.result != ""
            if call.how == "field":
                targets = self._held.by_member(number, call.callee, call.pointer, len(call.args))
                if targets:
                    yield Edge(targets, call.args, call.line, used, "table", index)
                continue
            if call.how != "name" or call.callee in local:
                yield from self._pointed(number, call, index)
                continue
            targets = self.resolve(call.callee, node.file)
            if targets:
                yield Edge(targets, call.args, call.line, used, "call", index)
                yield from self._called_back(node, targets[0], call, index)
            own = targets and (node.file, call.callee) in self.by_file
            if not own and self.macros.known(call.callee, node.file):
                yield from self._through_macro(number, call, index)
            elif not targets:
                yield from self._pointed(number, call, index)

    def _pointed(self, number: int, call: Call, index: int) -> Iterator[Edge]:
        """Yield calls through a variable, or through an array in a variable or a member."""
        outer, _, name = call.callee.rpartition(".")
        if outer:
            targets = self._held.by_member(number, name, outer, len(call.args))
        else:
            targets = self._held.by_variable(number, name)
        if targets:
            by = "table" if outer else "pointer"
            yield Edge(targets, call.args, call.line, call.result != "", by, index)

    def _called_back(self, node: Node, target: int, call: Call, index: int) -> Iterator[Edge]:
        callee = self.nodes[target].function
        for flat in self._callbacks.get(target, ()):
            real = substitute(flat, callee, call.args)
            targets = self.resolve(real.callee, node.file)
            if targets and real.callee != flat.callee:
                yield Edge(
                    targets,
                    real.args,
                    call.line,
                    call.result != "",
                    f"callback of {callee.name}",
                    index,
                )

    def _through_macro(self, number: int, call: Call, index: int) -> Iterator[Edge]:
        node = self.nodes[number]
        for flat in self.macros.at(call, node.file):
            if flat.how == "field":
                targets = self._held.by_member(number, flat.callee, flat.pointer, len(flat.args))
            else:
                targets = self.resolve(flat.callee, node.file)
            if targets:
                yield Edge(
                    targets, flat.args, call.line, call.result != "", f"macro {call.callee}", index
                )
                inner = Call(flat.callee, "name", flat.args, call.line, call.result)
                yield from self._called_back(node, targets[0], inner, index)
