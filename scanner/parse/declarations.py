# SPDX-License-Identifier: MIT
"""Read types, members and signatures of one definition with pycparser."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from pycparser import c_ast
from pycparser.c_parser import ParseError

from scanner.facts import Member, Param, Record, Typedef, TypeRef, stars_of
from scanner.parse.c_parser import IslandParser

_PARSER = IslandParser()
_TAGS = {c_ast.Struct: "struct", c_ast.Union: "union", c_ast.Enum: "enum"}


class Unreadable(Exception):
    """Raised if pycparser cannot read a definition; the text says why."""


def parse(text: str, types: frozenset[str]) -> list[Any]:
    """Return the external declarations of a text whose first line counts as line 2.

    Raises Unreadable.
    """
    try:
        return _PARSER.island(text, types)
    except ParseError as problem:
        raise Unreadable(str(problem)) from None
    except (AssertionError, AttributeError, IndexError, KeyError, TypeError, ValueError) as problem:
        raise Unreadable(f"pycparser failed: {type(problem).__name__}") from None
    except RecursionError:
        raise Unreadable("nested too deeply") from None


def type_ref(node: Any) -> TypeRef:
    """Return the type that a declarator declares."""
    layers: list[bool] = []
    function = False
    while True:
        kind = type(node)
        if kind is c_ast.PtrDecl or kind is c_ast.ArrayDecl:
            layers.append(kind is c_ast.PtrDecl)
        elif kind is c_ast.FuncDecl:
            function = True
        elif kind is c_ast.IdentifierType:
            return TypeRef(" ".join(node.names), stars_of(layers), function)
        elif kind in _TAGS:
            anonymous = "enum" if kind is c_ast.Enum else ""
            base = f"{_TAGS[kind]} {node.name}" if node.name else anonymous
            return TypeRef(base, stars_of(layers), function)
        elif kind is not c_ast.TypeDecl and kind is not c_ast.Typename and kind is not c_ast.Decl:
            return TypeRef("", stars_of(layers), function)
        node = node.type


def _inner_record(node: Any) -> Any:
    """Return the anonymous struct that a member declares in place, or None."""
    while type(node) in (c_ast.PtrDecl, c_ast.ArrayDecl, c_ast.TypeDecl):
        node = node.type
    if type(node) in (c_ast.Struct, c_ast.Union) and node.decls and not node.name:
        return node
    return None


def members(node: Any, prefix: str = "") -> Iterator[Member]:
    """Yield the members of a struct, including those of anonymous inner structs."""
    for declared in node.decls or ():
        if type(declared) is not c_ast.Decl:
            continue
        inner = _inner_record(declared.type)
        if inner is not None:
            yield from members(inner, f"{prefix}{declared.name}." if declared.name else prefix)
        elif declared.name:
            kind = type_ref(declared.type)
            signature = tuple(_signature(declared.type)) if kind.function else ()
            yield Member(prefix + declared.name, kind, signature)
        elif type(declared.type) in (c_ast.Struct, c_ast.Union) and declared.type.decls:
            # -fms-extensions: a tagged struct without a name.
            yield Member("", type_ref(declared.type))


def record(text: str, types: frozenset[str], line: int) -> Record:
    """Return the struct or union that the text defines; raises Unreadable."""
    for declared in parse(text + ";", types):
        node = declared.type
        if type(node) in (c_ast.Struct, c_ast.Union) and node.name:
            return Record(f"{_TAGS[type(node)]} {node.name}", line, tuple(members(node)))
    raise Unreadable("not a struct")


def typedefs(text: str, types: frozenset[str], line: int) -> list[Typedef | Record]:
    """Return the names that a typedef declares, and a Record for each anonymous struct in it.

    Raises Unreadable.
    """
    found: list[Typedef | Record] = []
    for declared in parse(text, types):
        if type(declared) is not c_ast.Typedef:
            continue
        inner = _inner_record(declared.type)
        if inner is not None:
            found.append(Record(declared.name, line, tuple(members(inner))))
        signature = tuple(_signature(declared.type))
        found.append(Typedef(declared.name, line, type_ref(declared.type), signature))
    return found


def _signature(node: Any) -> Iterator[TypeRef]:
    while node is not None and type(node) is not c_ast.FuncDecl:
        node = getattr(node, "type", None)
    if node is not None:
        yield type_ref(node.type)
        for parameter in node.args.params if node.args else ():
            yield type_ref(parameter)


def parameters(declaration: Any, old_style: Any = None) -> tuple[tuple[Param, ...], bool]:
    """Return the parameters of a function declaration, and whether an ellipsis ("...") follows.

    `old_style` are the declarations between the head and the body of a K&R definition.
    """
    node = declaration
    while node is not None and type(node) is not c_ast.FuncDecl:
        node = getattr(node, "type", None)
    if node is None or node.args is None:
        return (), False
    declared = {d.name: type_ref(d.type) for d in old_style or ()}
    found = []
    variadic = False
    for parameter in node.args.params:
        if type(parameter) is c_ast.EllipsisParam:
            variadic = True
        elif type(parameter) is c_ast.ID:
            found.append(Param(parameter.name, declared.get(parameter.name, TypeRef("int"))))
        else:
            reference = type_ref(parameter)
            if reference != TypeRef("void"):
                found.append(Param(getattr(parameter, "name", None) or "", reference))
    return tuple(found), variadic


def result(declaration: Any) -> TypeRef:
    """Return the result type of the function that `declaration` declares."""
    node = declaration
    while type(node) is not c_ast.FuncDecl:
        node = node.type
    return type_ref(node.type)
