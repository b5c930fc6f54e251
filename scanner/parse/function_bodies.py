# SPDX-License-Identifier: MIT
"""Read the facts of a function body (calls, assignments, variables) from pycparser's tree."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from pycparser import c_ast

from scanner.facts import Assign, Call, Param
from scanner.parse.declarations import type_ref

Atoms = tuple[str, ...]
# Looked up a million times a tree.
_ARRAY, _CALL, _CAST, _COMPOUND, _ID, _REFERENCE, _RETURN, _UNARY = (
    c_ast.ArrayRef,
    c_ast.FuncCall,
    c_ast.Cast,
    c_ast.Compound,
    c_ast.ID,
    c_ast.StructRef,
    c_ast.Return,
    c_ast.UnaryOp,
)
_NESTS = frozenset(
    (
        c_ast.If,
        c_ast.While,
        c_ast.For,
        c_ast.DoWhile,
        c_ast.Switch,
        c_ast.Label,
        c_ast.Case,
        c_ast.Default,
    )
)
_COMPARISONS = frozenset(("==", "!=", "<", ">", "<=", ">=", "&&"))
_NODE = c_ast.Node


class _Slots(dict[type, tuple[str, ...]]):
    """For each kind of node, the attributes that may contain other nodes."""

    def __missing__(self, kind: Any) -> tuple[str, ...]:
        self[kind] = slots = tuple(s for s in kind.__slots__ if s not in _NO_NODES)
        return slots


# Attributes of any node that hold words or its position, not other nodes.
_NO_NODES = frozenset(("coord", "__weakref__", "op", "quals", "storage", "funcspec", "declname"))
_SLOTS = _Slots()


def _children(node: Any) -> list[Any]:
    """Return the nodes directly inside a node."""
    found = []
    for slot in _SLOTS[type(node)]:
        value = getattr(node, slot)
        if isinstance(value, _NODE):
            found.append(value)
        elif value and isinstance(value, (list, tuple)):
            found += [item for item in value if isinstance(item, _NODE)]
    return found


class Body:
    """The facts of one body: its calls, assignments and variables.

    `shift` is added to pycparser's line numbers; the sums are line numbers of the file.
    """

    def __init__(self, shift: int) -> None:
        self.shift = shift
        self.calls: list[Call] = []
        self.assigns: list[Assign] = []
        self.variables: list[Param] = []

    def read(self, node: Any) -> None:
        """Collect the facts of a statement and of all statements inside it."""
        kind = type(node)
        if kind is _COMPOUND:
            for item in node.block_items or ():
                self._statement(item)
        elif kind is _RETURN:
            if node.expr is not None:
                self.assigns.append(Assign("return", self._atoms(node.expr, "return")))
        elif kind in _NESTS:
            for child in _children(node):
                self._statement(child)
        else:
            self._atoms(node, "=")

    def _statement(self, node: Any) -> None:
        kind = type(node)
        if kind is _CALL:
            self._call(node, "")
        elif kind is _CAST and type(node.expr) is _CALL:
            self._call(node.expr, "")
        else:
            self.read(node)

    def _call(self, node: Any, result: str) -> Atoms:
        target = node.name
        kind = type(target)
        while kind is _UNARY or kind is _CAST:
            target = target.expr
            kind = type(target)
        pointer = ""
        if kind is _ID:
            how, callee = "name", target.name
        elif kind is _REFERENCE:
            how, callee, pointer = "field", target.field.name, self._path(target.name)
        else:
            how, callee = "pointer", self._path(target)
        index = len(self.calls)
        line = (target.coord.line if target.coord else 2) + self.shift
        self.calls.append(Call(callee, how, (), line, result, pointer))
        given = node.args.exprs if node.args else ()
        arguments = tuple([self._atoms(argument, "=") for argument in given])
        self.calls[index] = Call(callee, how, arguments, line, result, pointer)
        return (f"@{index}",)

    def _path(self, node: Any) -> str:
        """Return the path of an lvalue ("" if it has none), and record the calls in the lvalue."""
        kind = type(node)
        if kind is _ID:
            return str(node.name)
        if kind is _REFERENCE:
            base = self._path(node.name)
            return f"{base}.{node.field.name}" if base else ""
        if kind is _ARRAY:
            self._atoms(node.subscript, "=")
            return self._path(node.name)
        if kind is _UNARY and node.op in ("&", "*", "p++", "p--", "++", "--"):
            return self._path(node.expr)
        if kind is _CAST:
            base = type_ref(node.to_type).base
            inner = self._path(node.expr)
            return f"({base}" if base.startswith(("struct ", "union ")) else inner
        if kind is _CALL:
            return self._call(node, "=")[0]
        self._atoms(node, "=")
        return ""

    def _atoms(self, node: Any, result: str) -> Atoms:
        """Return the atoms of an expression."""
        reader = _READERS.get(type(node))
        if reader is not None:
            return reader(self, node, result)
        atoms: Atoms = ()
        for child in _children(node):
            atoms += self._atoms(child, "=")
        return atoms

    def _id(self, node: Any, _result: str) -> Atoms:
        return (node.name,)

    def _nothing(self, _node: Any, _result: str) -> Atoms:
        return ()

    def _reference(self, node: Any, _result: str) -> Atoms:
        path = self._path(node)
        return (path,) if path else ()

    def _unary(self, node: Any, _result: str) -> Atoms:
        if node.op == "sizeof":
            return ()
        atoms = self._atoms(node.expr, "=")
        return () if node.op == "!" else atoms

    def _cast(self, node: Any, _result: str) -> Atoms:
        atoms = self._atoms(node.expr, "=")
        base = type_ref(node.to_type).base
        return (*atoms, f"({base}") if base.startswith(("struct ", "union ")) else atoms

    def _binary(self, node: Any, _result: str) -> Atoms:
        atoms = self._atoms(node.left, "=") + self._atoms(node.right, "=")
        return () if node.op in _COMPARISONS else atoms

    def _ternary(self, node: Any, _result: str) -> Atoms:
        self._atoms(node.cond, "=")
        return self._atoms(node.iftrue, "=") + self._atoms(node.iffalse, "=")

    def _assignment(self, node: Any, _result: str) -> Atoms:
        target = self._path(node.lvalue)
        atoms = self._atoms(node.rvalue, target or "=")
        if target and atoms:
            self.assigns.append(Assign(target, atoms))
        return (target,) if target else atoms

    def _declare(self, node: Any, _result: str) -> Atoms:
        if type(node.type) is c_ast.FuncDecl:  # a prototype hides no function
            return ()
        if node.name and not node.funcspec and "typedef" not in node.storage:
            self.variables.append(Param(node.name, type_ref(node.type)))
        if node.init is not None:
            atoms = self._atoms(node.init, node.name or "=")
            if atoms and node.name:
                self.assigns.append(Assign(node.name, atoms))
        return ()

    def _named(self, node: Any, _result: str) -> Atoms:
        return self._atoms(node.expr, "=")


_READERS: dict[type, Callable[[Body, Any, str], Atoms]] = {
    c_ast.ID: Body._id,
    c_ast.Constant: Body._nothing,
    c_ast.Typename: Body._nothing,
    c_ast.StructRef: Body._reference,
    c_ast.ArrayRef: Body._reference,
    c_ast.UnaryOp: Body._unary,
    c_ast.Cast: Body._cast,
    c_ast.BinaryOp: Body._binary,
    c_ast.TernaryOp: Body._ternary,
    c_ast.Assignment: Body._assignment,
    c_ast.Decl: Body._declare,
    c_ast.FuncCall: Body._call,
    c_ast.NamedInitializer: Body._named,
}
