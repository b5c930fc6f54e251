# SPDX-License-Identifier: MIT
"""Finds the names in one file that the mapping renames.

Names are found in the syntax tree, and changed in the text: formatting stays as it is.  Comments
and docstrings change where they have a name in backticks.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import PurePosixPath
from typing import NamedTuple

import libcst as cst
from libcst.metadata import MetadataWrapper, PositionProvider

from .mapping import ATTRIBUTE, BARE, KEYWORD, NAMES, STRING, Scope, new_name

QUOTED = re.compile(r"`+([A-Za-z_]\w*)(\(\))?`+")
WORD = re.compile(r"[A-Za-z_]\w*")


class Edit(NamedTuple):
    """One name that changes: 1-based line, 0-based column of the text."""

    line: int
    column: int
    old: str
    new: str


class Use(NamedTuple):
    """A name as it stands in the file."""

    place: str
    kind: str
    name: str


class Finder(cst.CSTVisitor):
    """Collects edits, and all uses of names for the search for collisions."""

    METADATA_DEPENDENCIES = (PositionProvider,)

    def __init__(self, scopes: Sequence[Scope], modules: set[str]) -> None:
        super().__init__()
        self._scopes, self._modules, self._place = scopes, modules, [""]
        self.edits: set[Edit] = set()
        self.uses: set[Use] = set()

    def _new(self, kind: str, name: str) -> str | None:
        return new_name(self._scopes, self._place[-1], kind, name)

    def _at(self, node: cst.CSTNode) -> tuple[int, int]:
        start = self.get_metadata(PositionProvider, node).start
        return start.line, start.column

    def _name(self, node: cst.Name, kind: str) -> None:
        if kind == BARE and node.value in self._modules:
            return
        self.uses.add(Use(self._place[-1], kind, node.value))
        new = self._new(kind, node.value)
        if new is not None:
            self.edits.add(Edit(*self._at(node), node.value, new))

    def visit_Name(self, node: cst.Name) -> None:
        self._name(node, BARE)

    def visit_Attribute(self, node: cst.Attribute) -> bool:
        node.value.visit(self)
        self._name(node.attr, ATTRIBUTE)
        return False

    def visit_Arg(self, node: cst.Arg) -> bool:
        if node.keyword is not None:
            self._name(node.keyword, KEYWORD)
        node.value.visit(self)
        return False

    def visit_ImportFrom(self, node: cst.ImportFrom) -> bool:
        """Modules keep their names: they are files."""
        if not isinstance(node.names, cst.ImportStar):
            for alias in node.names:
                alias.visit(self)
        return False

    def visit_Import(self, node: cst.Import) -> bool:
        for alias in node.names:
            if alias.asname is not None:
                alias.asname.visit(self)
        return False

    def visit_FunctionDef(self, node: cst.FunctionDef) -> bool:
        for decorator in node.decorators:
            decorator.visit(self)
        self._name(node.name, BARE)
        self._enter(node.name.value)
        for decorator in node.decorators:
            self._parametrized(decorator.decorator)
        for part in (node.params, node.returns, *node.lines_after_decorators, node.body):
            if part is not None:
                part.visit(self)
        self._place.pop()
        return False

    def visit_ClassDef(self, node: cst.ClassDef) -> bool:
        for part in (*node.decorators, *node.bases, *node.keywords):
            part.visit(self)
        self._name(node.name, BARE)
        self._enter(node.name.value)
        node.body.visit(self)
        self._place.pop()
        return False

    def _enter(self, name: str) -> None:
        self._place.append(f"{self._place[-1]}.{name}".lstrip("."))

    def _parametrized(self, call: cst.BaseExpression) -> None:
        """Names of parameters in ``pytest.mark.parametrize``."""
        if not isinstance(call, cst.Call) or not isinstance(call.func, cst.Attribute):
            return
        if call.func.attr.value != "parametrize" or not call.args:
            return
        first = call.args[0].value
        items = first.elements if isinstance(first, cst.Tuple | cst.List) else ()
        for text in (first, *(item.value for item in items)):
            if isinstance(text, cst.SimpleString):
                self._words(text, text.value, WORD)

    def _words(self, node: cst.CSTNode, text: str, pattern: re.Pattern[str]) -> None:
        line, column = self._at(node)
        for match in pattern.finditer(text):
            name, start = (
                match[(match.lastindex and 1) or 0],
                match.start((match.lastindex and 1) or 0),
            )
            new = next((n for kind in NAMES if (n := self._new(kind, name))), None)
            if new is not None and name not in self._modules:
                before = text[:start]
                lines = before.count("\n")
                at = start - before.rfind("\n") - 1 if lines else column + start
                self.edits.add(Edit(line + lines, at, name, new))

    def visit_Comment(self, node: cst.Comment) -> None:
        self._words(node, node.value, QUOTED)

    def visit_Expr(self, node: cst.Expr) -> None:
        if isinstance(node.value, cst.SimpleString):
            self._words(node.value, node.value.value, QUOTED)

    def visit_Assign(self, node: cst.Assign) -> None:
        """Strings of ``__all__`` are names."""
        target, value = node.targets[0].target, node.value
        if isinstance(target, cst.Name) and target.value == "__all__":
            for item in value.elements if isinstance(value, cst.List | cst.Tuple) else ():
                if isinstance(item.value, cst.SimpleString):
                    self._words(item.value, item.value.value, WORD)

    def visit_SimpleString(self, node: cst.SimpleString) -> None:
        text = node.raw_value
        new = self._new(STRING, text)
        if new is not None:
            line, column = self._at(node)
            start = node.value.index(text)
            self.edits.add(Edit(line, column + start, text, new))


def find(text: str, scopes: Sequence[Scope], modules: set[str]) -> Finder:
    """All names of a file; `modules` are names in it that stand for files."""
    finder = Finder(scopes, modules)
    MetadataWrapper(cst.parse_module(text), unsafe_skip_copy=True).visit(finder)
    return finder


def apply(text: str, edits: set[Edit]) -> str:
    """The text with all edits made."""
    lines = text.split("\n")
    for line, column, old, new in sorted(edits, reverse=True):
        row = lines[line - 1]
        assert row[column : column + len(old)] == old, f"line {line}: {row!r} has no {old}"
        lines[line - 1] = row[:column] + new + row[column + len(old) :]
    return "\n".join(lines)


def modules_of(file: str, text: str, files: set[str]) -> set[str]:
    """Names that a file imports from a package and that are modules of it."""
    found = set()
    for match in re.finditer(r"^\s*from (\.*)([\w.]*) import (\([^)]*\)|[^\n]*)", text, re.M):
        dots, path, names = match.groups()
        folder = PurePosixPath(file).parents[len(dots) - 1] if dots else PurePosixPath()
        folder = folder.joinpath(*path.split(".")) if path else folder
        for name in re.findall(r"(\w+)(?: as (\w+))?", re.sub(r"#[^\n]*", "", names)):
            if {f"{folder}/{name[0]}.py", f"{folder}/{name[0]}/__init__.py"} & files:
                found |= {name[0], name[1] or name[0]}
    return found
