# SPDX-License-Identifier: MIT
"""Databases and sessions have types: no function takes one as Any."""

from __future__ import annotations

import ast

import pytest

from .tree import ROOT, project_files

HANDLES = {"db", "database", "connection", "engine", "session", "recording"}


def _untyped(source: str) -> list[str]:
    """Return line and name of each handle (by HANDLES) whose annotation contains Any."""
    found = []
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.arg):
            name, kind = node.arg, node.annotation
        elif isinstance(node, ast.AnnAssign):
            name, kind = ast.unparse(node.target).rpartition(".")[2], node.annotation
        else:
            continue
        words = {n.id for n in ast.walk(kind) if isinstance(n, ast.Name)} if kind else set()
        if name.strip("_") in HANDLES and "Any" in words:
            found.append(f"line {node.lineno}: {name}")
    return found


def test_no_database_or_session_is_any() -> None:
    found = {
        path: untyped
        for path in project_files()
        if path.startswith("skbviewer/") and path.endswith(".py")
        if (untyped := _untyped((ROOT / path).read_text(encoding="utf-8")))
    }
    assert not found, "take store.Database, or a Protocol of what is needed"


@pytest.mark.parametrize(
    "source",
    ["def f(db: Any) -> None: ...", "class A:\n    session: Any | None = None", "_db: list[Any]"],
)
def test_an_untyped_handle_is_found(source: str) -> None:
    assert _untyped(source)
