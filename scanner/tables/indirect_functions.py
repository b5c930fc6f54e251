# SPDX-License-Identifier: MIT
"""Third table: callers and callees of packet functions whose values are associated with a packet.

A name in a function is associated if its type is a form of the struct. Under the data-flow rule, a
name is also associated if it receives an associated value: by assignment, as the result of a call,
or as an argument. Plain numbers are never associated: a length is not a packet. A member that is an
object of its own, such as skb->dev, is not associated. A pointer to the packet's header
(skb->data), however, is associated.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import NamedTuple

from scanner.tables.callgraph import CallGraph, Edge
from scanner.tables.macro_expansion import Atoms
from scanner.tables.struct_forms import Closure

ROUNDS = 60  # a limit for safety: the search ends after far fewer rounds


class Witness(NamedTuple):
    """The call that made a function indirect; `argument` is the associated part of the call.

    `caller` and `callee` are numbers of functions in the call graph; `by` is the kind of call (see
    Edge).
    """

    caller: int
    callee: int
    line: int
    argument: str
    by: str


class Indirect(NamedTuple):
    """A function of table `indirect`: the `side` "caller" or "callee" of a packet function.

    `number` is the function's number in the call graph, and `round` is the round of the search that
    found the function.
    """

    number: int
    side: str
    round: int
    witness: Witness


class Search:
    """Repeats the rules over one call graph and one set of forms until nothing new is found."""

    def __init__(
        self, graph: CallGraph, found: Closure, direct: set[int], data_flow: bool = True
    ) -> None:
        self.graph = graph
        self.closure = found
        self.packet = set(direct)
        self.data_flow = data_flow
        self.given: dict[int, set[str]] = {}  # parameters to which callers pass associated values
        self.returning: set[int] = set()  # functions with an associated result
        self.passing: dict[int, set[int]] = {}  # parameters from which the result is made
        self._settled: set[int] = set()
        self._names: dict[int, set[str]] = {}
        self._atoms: dict[int, dict[str, bool]] = {}
        self._open: dict[int, tuple[tuple[int, str], ...]] = {}

    def run(self) -> list[Indirect]:
        """Return the indirect functions in order of round and number."""
        found: dict[int, Indirect] = {}
        pending = set(range(len(self.graph.nodes)))
        for turn in range(1, ROUNDS):
            before = set(self.packet)
            touched: set[int] = set()
            for number in sorted(pending):
                self._visit(number, before, turn, found, touched)
            if not touched:
                break
            pending = set(touched)
            for number in touched:
                pending |= self.graph.callers[number]
        return sorted(found.values(), key=lambda i: (i.round, i.number))

    def _visit(
        self,
        number: int,
        before: set[int],
        turn: int,
        found: dict[int, Indirect],
        touched: set[int],
    ) -> None:
        edges = self.graph.edges[number]
        if not edges and not self.graph.nodes[number].function.assigns:
            return
        if self.data_flow and self._results(number):
            self._forget(self.graph.callers[number])
            touched.add(number)
        names = self._associated(number)
        is_packet = number in before
        for edge in edges:
            hit = self._first(number, edge, names)
            if (
                not is_packet
                and number not in self.packet
                and any(t in before for t in edge.targets)
            ):
                argument = hit or self._result_form(edge, before)
                if argument:
                    target = next(t for t in edge.targets if t in before)
                    self._add(
                        number,
                        "caller",
                        turn,
                        found,
                        touched,
                        Witness(number, target, edge.line, argument, edge.by),
                    )
            if is_packet and hit:
                for target in edge.targets:
                    if target not in self.packet:
                        self._add(
                            target,
                            "callee",
                            turn,
                            found,
                            touched,
                            Witness(number, target, edge.line, hit, edge.by),
                        )
                    self._give(number, target, edge, names, touched)

    def _add(
        self,
        number: int,
        side: str,
        turn: int,
        found: dict[int, Indirect],
        touched: set[int],
        witness: Witness,
    ) -> None:
        self.packet.add(number)
        found[number] = Indirect(number, side, turn, witness)
        touched.add(number)

    def _first(self, number: int, edge: Edge, names: set[str]) -> str:
        """Return the first associated argument of a call; "" if the call has none."""
        for atoms in edge.args:
            for atom in atoms:
                if self._is_associated(number, atom, names):
                    return self._readable(number, atom)
        return ""

    def _readable(self, number: int, atom: str) -> str:
        root, dot, rest = atom.partition(".")
        if root.startswith("@"):
            root = self.graph.nodes[number].function.calls[int(root[1:])].callee + "()"
        return f"{root.removeprefix('(')}{dot}{rest}"

    def _result_form(self, edge: Edge, before: set[int]) -> str:
        """Return "result of F" if the result of a call is associated and used; "" otherwise."""
        if not edge.used or edge.by != "call":
            return ""
        for target in edge.targets:
            node = self.graph.nodes[target]
            base = self.graph.types.base(node.function.returns.base, node.file)
            if target in before and (
                self.closure.level(base) is not None
                or (self.data_flow and target in self.returning)
            ):
                return f"result of {node.function.name}"
        return ""

    def _give(
        self, number: int, target: int, edge: Edge, names: set[str], touched: set[int]
    ) -> None:
        """Associate those parameters of the called function that receive associated values."""
        open_params = self._open_params(target) if self.data_flow else ()
        for index, name in open_params:
            if index >= len(edge.args) or name in self.given.get(target, ()):
                continue
            if any(self._is_associated(number, atom, names) for atom in edge.args[index]):
                self.given.setdefault(target, set()).add(name)
                self._names.pop(target, None)
                self._atoms.pop(target, None)
                touched.add(target)

    def _forget(self, numbers: Iterable[int]) -> None:
        """Discard the names and results of the `functions`, so that they are computed again."""
        for number in numbers:
            self._names.pop(number, None)
            self._atoms.pop(number, None)
            self._settled.discard(number)

    def _open_params(self, target: int) -> tuple[tuple[int, str], ...]:
        """Return the parameters whose type does not associate them, but which can be associated."""
        known = self._open.get(target)
        if known is None:
            node = self.graph.nodes[target]
            types = self.graph.types
            known = tuple(
                (index, param.name)
                for index, param in enumerate(node.function.params)
                if not types.scalar(param.type)
                and self.closure.level(types.base(param.type.base, node.file)) is None
            )
            self._open[target] = known
        return known

    def _associated(self, number: int) -> set[str]:
        """Return the associated names in the function `number`."""
        known = self._names.get(number)
        if known is not None:
            return known
        names = self._by_type(number) | self.given.get(number, set())
        if self.data_flow:
            self._flow(number, names)
        self._names[number] = names
        self._atoms.pop(number, None)
        return names

    def _by_type(self, number: int) -> set[str]:
        """Return the names in the function `number` whose type is a form of the struct."""
        graph = self.graph
        file = graph.nodes[number].file
        return {
            name
            for name, kind in graph.names(number).items()
            if not kind.function
            and self.closure.level(graph.types.base(kind.base, file)) is not None
        }

    def _flow(self, number: int, names: set[str]) -> None:
        """Add to `names` the names to which associated values are assigned."""
        assigns = self.graph.nodes[number].function.assigns
        local = self.graph.names(number)
        for _ in range(10):
            before = len(names)
            waiting = []
            for assign in assigns:
                root = assign.to.partition(".")[0]
                if (
                    root in names
                    or root not in local
                    or (assign.to == root and self.graph.types.scalar(local[root]))
                ):
                    continue
                if any(self._is_associated(number, atom, names, False) for atom in assign.atoms):
                    names.add(root)
                else:
                    waiting.append(assign)
            if len(names) == before:
                break
            assigns = tuple(waiting)

    def _results(self, number: int) -> bool:
        """Find the associated values that a function returns; return whether any is new."""
        function = self.graph.nodes[number].function
        if number in self._settled or number in self.returning:
            return False
        self._settled.add(number)
        returned = [assign.atoms for assign in function.assigns if assign.to == "return"]
        if not any(returned) or self.graph.types.scalar(function.returns):
            return False
        if self._gives(number, returned, set()):
            self.returning.add(number)
            return True
        known = self.passing.setdefault(number, set())
        new = {
            index
            for index, name in self._open_params(number)
            if index not in known and self._gives(number, returned, {name})
        }
        known |= new
        return bool(new)

    def _gives(self, number: int, returned: list[Atoms], given: set[str]) -> bool:
        """Return whether a function's result is associated if its parameters `given` are."""
        names = self._by_type(number) | given
        self._flow(number, names)
        atoms = (atom for group in returned for atom in group)
        return any(self._is_associated(number, atom, names, False) for atom in atoms)

    def _is_associated(self, number: int, atom: str, names: set[str], memo: bool = True) -> bool:
        cache = self._atoms.setdefault(number, {}) if memo else {}
        known = cache.get(atom)
        if known is None:
            known = cache[atom] = self._decide(number, atom, names, 0)
        return known

    def _decide(self, number: int, atom: str, names: set[str], depth: int) -> bool:
        root, dot, _ = atom.partition(".")
        if root.startswith(("struct_", "union_")) and root not in self.graph.names(number):
            return False
        kind = self.graph.type_of(number, atom)
        if kind is not None:
            if not kind.function and self.closure.level(kind.base) is not None:
                return True
            if not self.data_flow or self.graph.types.scalar(kind):
                return False
            if dot and self.graph.types.is_object(kind):
                return False
        elif not self.data_flow:
            return False
        if root.startswith("@"):
            return depth < 6 and self._call_gives(number, int(root[1:]), names, depth)
        return root in names

    def _call_gives(self, number: int, index: int, names: set[str], depth: int) -> bool:
        """Return whether a call returns an associated value, or has an associated argument."""
        function = self.graph.nodes[number].function
        if index >= len(function.calls):
            return False
        call = function.calls[index]
        targets = self.graph.resolve(call.callee, self.graph.nodes[number].file)
        if targets:
            return any(t in self.returning for t in targets) or any(
                self._decide(number, atom, names, depth + 1)
                for target in targets
                for place in self.passing.get(target, ())
                if place < len(call.args)
                for atom in call.args[place]
            )
        if self.graph.macros.known(call.callee, self.graph.nodes[number].file):
            return any(
                self._decide(number, a, names, depth + 1) for atoms in call.args for a in atoms
            )
        return False


def packet_edges(graph: CallGraph, packet: set[int]) -> Iterator[tuple[int, int]]:
    """Yield (caller, callee) for each call from a packet function to a packet function, once.

    `packet` has the numbers of the packet functions in `graph`.
    """
    for number in sorted(packet):
        targets = {t for edge in graph.edges[number] for t in edge.targets}
        for target in sorted(targets & packet):
            yield number, target
