# SPDX-License-Identifier: MIT
"""One definition of a name that many modules define each for themselves.

In mapping.toml a table ``[[shared]]`` has a `module`, its `names` with all spellings of what each
stands for, and optionally `old`: the names that modules have given it.  A top-level assignment of
just that in skbviewer goes, and whoever used it, or imported it from there, imports it from
`module`.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import PurePosixPath
from typing import Any, NamedTuple

from .edits import apply, find
from .mapping import BARE, Scope

PACKAGE = "skbviewer/"


class Shared(NamedTuple):
    """`values`: by source text of what it stands for the name; `old`: () = only that name."""

    module: str
    values: dict[str, str]
    old: tuple[str, ...]

    def new(self, old: str, value: str) -> str | None:
        """The shared name of what a module calls `old`, None if it is another thing."""
        name = self.values.get(value)
        return name if name and old in (self.old or (name,)) else None


def read(tables: list[dict[str, Any]]) -> list[Shared]:
    """Return the shared names of mapping.toml."""
    return [
        Shared(
            table["module"],
            {value: name for name, values in table["names"].items() for value in values},
            tuple(table.get("old", ())),
        )
        for table in tables
    ]


def share(texts: dict[str, str], shared: list[Shared]) -> dict[str, str]:
    """Files that change, with their new text."""
    trees = {file: ast.parse(text) for file, text in texts.items()}
    known: dict[str, dict[str, tuple[str, str]]] = {}  # file: old name: module, new name
    for file, tree in trees.items():
        if file.startswith(PACKAGE) and file not in {each.module for each in shared}:
            known[file] = {old: to for _, pairs in _defined(tree, shared) for old, to in pairs}
    while sum(_spread(file, tree, known) for file, tree in trees.items()):
        pass  # what one file imports, another may import from it
    return {
        file: _changed(file, texts[file], names, shared) for file, names in known.items() if names
    }


Pairs = list[tuple[str, tuple[str, str]]]


def _defined(tree: ast.Module, shared: list[Shared]) -> Iterator[tuple[ast.Assign, Pairs]]:
    """Assignments with the names in them that are shared."""
    for node in tree.body:
        if isinstance(node, ast.Assign) and len(node.targets) == 1:
            pairs = [
                (old, (each.module, new))
                for old, value in _parts(node)
                for each in shared
                if (new := each.new(old, value)) is not None
            ]
            if pairs:
                yield node, pairs


def _parts(node: ast.Assign) -> list[tuple[str, str]]:
    target, value = node.targets[0], node.value
    if isinstance(target, ast.Name):
        return [(target.id, ast.unparse(value))]
    if not isinstance(target, ast.Tuple) or not isinstance(value, ast.Tuple):
        return []
    return [
        (ast.unparse(left), ast.unparse(right))
        for left, right in zip(target.elts, value.elts, strict=False)
    ]


def _spread(file: str, tree: ast.Module, known: dict[str, dict[str, tuple[str, str]]]) -> bool:
    """Whether `file` imports more shared names than were known."""
    mine, before = known.setdefault(file, {}), len(known[file])
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom):
            source = known.get(_source(file, node, known), {})
            for alias in node.names:
                if alias.name in source and source is not mine:
                    mine[alias.asname or alias.name] = source[alias.name]
    return len(mine) > before


def _source(file: str, node: ast.ImportFrom, files: dict[str, Any]) -> str:
    """The file that a statement imports from."""
    folder = PurePosixPath(file).parents[node.level - 1] if node.level else PurePosixPath()
    path = folder.joinpath(*(node.module or "").split(".")) if node.module else folder
    return f"{path}.py" if f"{path}.py" in files else f"{path}/__init__.py"


def _changed(file: str, text: str, names: dict[str, tuple[str, str]], shared: list[Shared]) -> str:
    scope = Scope("", {(BARE, old): new for old, (_, new) in names.items()})
    lines = text.split("\n")
    for node, pairs in _defined(ast.parse(text), shared) if file.startswith(PACKAGE) else ():
        gone = {old for old, _ in pairs}
        left = [(name, value) for name, value in _parts(node) if name not in gone]
        row = ", ".join(n for n, _ in left) + " = " + ", ".join(v for _, v in left)
        lines[node.lineno - 1 : node.end_lineno] = [
            row if left else "",
            *[""] * ((node.end_lineno or node.lineno) - node.lineno),
        ]
    text = apply("\n".join(lines), find("\n".join(lines), [scope], set()).edits)
    return _imported(file, text, {new: module for module, new in names.values()})


def _imported(file: str, text: str, modules: dict[str, str]) -> str:
    """With imports of shared names from their modules, and from nowhere else."""
    lines, tree = text.split("\n"), ast.parse(text)
    for node in (each for each in ast.walk(tree) if isinstance(each, ast.ImportFrom)):
        kept = [alias for alias in node.names if alias.name not in modules]
        if len(kept) < len(node.names):
            node.names = kept
            end = node.end_lineno or node.lineno
            row = " " * node.col_offset + ast.unparse(node) if kept else ""
            lines[node.lineno - 1 : end] = [row, *[""] * (end - node.lineno)]
    docstring = next(node for node in tree.body if isinstance(node, ast.ImportFrom))
    assert docstring.module == "__future__", file
    top, new = docstring.end_lineno or 1, []
    for module in sorted(set(modules.values())):
        used = ", ".join(sorted(name for name, of in modules.items() if of == module))
        new.append(f"from {_path(file, module)} import {used}")
    return "\n".join([*lines[:top], "", *new, *lines[top:]])


def _path(file: str, module: str) -> str:
    """How `file` imports `module`."""
    parts = PurePosixPath(module).with_suffix("").parts
    if not file.startswith(PACKAGE) or file.startswith(f"{PACKAGE}gui/"):
        return ".".join(parts)
    return "." * len(PurePosixPath(file).parents[:-1]) + ".".join(parts[1:])
