# SPDX-License-Identifier: MIT
"""Compiled loops are in modules of their own, so that a reader of the other code can skip them."""

from __future__ import annotations

import ast

import pytest

from .tree import ROOT, project_files

DECORATORS = {"compiled", "allocation_free"}
FEW_LINES = 40  # so much may stand beside its only caller
MOST_PARAMETERS = 10  # of a loop; a NamedTuple of arrays counts as one
# How many loops have more.  Who changes one to take fewer lowers this; nobody raises it.
WITH_MORE = 25
FILES = [name for name in project_files() if name.startswith("skbviewer/") and name.endswith(".py")]


def loops(path: str) -> list[ast.FunctionDef]:
    """Return the compiled functions of a module."""
    tree = ast.parse((ROOT / path).read_text(encoding="utf-8"))
    return [
        node
        for node in ast.walk(tree)
        if isinstance(node, ast.FunctionDef)
        and DECORATORS & {name.id for name in node.decorator_list if isinstance(name, ast.Name)}
    ]


def lines(functions: list[ast.FunctionDef]) -> int:
    """Return how many lines these functions have."""
    return sum((node.end_lineno or 0) - node.lineno + 1 for node in functions)


def test_long_loops_are_in_modules_of_their_own() -> None:
    found = {name: lines(loops(name)) for name in FILES if not name.endswith("_loops.py")}
    long = {name: count for name, count in found.items() if count > FEW_LINES}
    assert not long, f"move loops to a module *_loops.py: {long}"


@pytest.mark.parametrize("path", [name for name in FILES if name.endswith("_loops.py")])
def test_modules_of_loops_have_loops(path: str) -> None:
    assert loops(path)


def test_loops_with_many_parameters_become_fewer() -> None:
    many = [
        f"{name}: {loop.name}"
        for name in FILES
        for loop in loops(name)
        if len(loop.args.args) > MOST_PARAMETERS
    ]
    assert len(many) == WITH_MORE, f"{len(many)} instead of {WITH_MORE}: {many}"
