# SPDX-License-Identifier: MIT
"""Derive a test's marks from what it uses; ``tests/conftest.py`` sets them.

lab: boots a guest, downloads, or runs programs that only the lab has.  net: of these, what
downloads from Debian or PyPI.  root: needs root.  slow: its file is in ``tests/slow.txt``.
"""

from __future__ import annotations

import ast
import inspect
import re
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from typing import Any

import pytest

TOP = Path(__file__).resolve().parents[1]
LAB = "tests/lab/"
LAB_FIXTURES = "tests.lab.fixture"
MORE_THAN_CHECK = ("lab", "net", "root")
# Modules for which a test file needs more than `make check` expects.
MODULES = {
    "tests.kmod.headers": "net",
    "tests.lab.guest": "lab",
    "tests.lab.initramfs": "lab",
    "tests.truth.guests": "lab",
}
# What the code of a test or of a fixture of it, or a parameter, contains if it needs more.
WORDS = {
    "lab": re.compile(r'"mandoc"|-linux-gnu-gcc|qemu-\w'),
    "net": re.compile(r'\bdebs\.(?:fetch|download)\(|"(?:pip|apt-get|apt-cache)"'),
    "root": re.compile(r'"(?:mount|sudo|unshare|setpriv)"'),
}
SLOW_CPU_S = 1.0
SLOW_TABLE = TOP / "tests/slow.txt"


def marks(item: pytest.Item) -> set[str]:
    """Return the names of a test's marks."""
    path = item.nodeid.partition("::")[0]
    found = {"lab"} if path.startswith(LAB) else set[str]()
    found |= {MODULES[name] for name in imported(path) & MODULES.keys()}
    for function in functions(item):
        if function.__module__ == LAB_FIXTURES:
            found.add("lab")
        found |= used(function)
    found |= named(repr(item.callspec.params) if hasattr(item, "callspec") else "")
    if "net" in found:
        found.add("lab")  # so that `-m "not lab"` does not download either
    return found | ({"slow"} if path in slow_files() else set())


def functions(item: pytest.Item) -> Iterator[Callable[..., Any]]:
    """Yield the function of a test and those of all its fixtures."""
    if not isinstance(item, pytest.Function):
        return
    yield item.function
    for definitions in item._fixtureinfo.name2fixturedefs.values():
        for definition in definitions:
            yield definition.func


def named(text: str) -> frozenset[str]:
    """Return the marks whose WORDS are in a text."""
    return frozenset(mark for mark, words in WORDS.items() if words.search(text))


@cache
def used(function: Callable[..., Any]) -> frozenset[str]:
    """Return the marks whose WORDS are in a function's source, with its decorators."""
    code = getattr(inspect.unwrap(function), "__code__", None)
    if code is None or not Path(code.co_filename).is_file():
        return frozenset()
    lines, last = functions_of(Path(code.co_filename))
    first = code.co_firstlineno
    return named("\n".join(lines[first - 1 : last.get(first, first)]))


@cache
def functions_of(path: Path) -> tuple[list[str], dict[int, int]]:
    """Return a file's lines, and the last line of each function by its first, both from 1."""
    return path.read_text(encoding="utf-8").splitlines(), parsed(path)[1]


def imported(path: str) -> frozenset[str]:
    """Return the dotted names of the modules that a test file imports."""
    return parsed(TOP / path)[0]


@cache
def parsed(path: Path) -> tuple[frozenset[str], dict[int, int]]:
    """Return what a file imports, and the last line of each of its functions by the first."""
    package = path.relative_to(TOP).parts[:-1] if path.is_relative_to(TOP) else ()
    names: set[str] = set()
    last = {}
    for node in statements(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            first = min([node.lineno, *(one.lineno for one in node.decorator_list)])
            last[first] = node.end_lineno or node.lineno
        elif isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            base = package[: len(package) - node.level + 1] if node.level else ()
            whole = ".".join([*base, *([node.module] if node.module else [])])
            names |= {whole} | {f"{whole}.{alias.name}" for alias in node.names}
    return frozenset(names), last


def statements(module: ast.Module) -> list[ast.AST]:
    """Return a module and all its statements.  ast.walk() also visits expressions: much slower."""
    found: list[ast.AST] = [module]
    for node in found:
        for name in ("body", "orelse", "finalbody", "handlers", "cases"):
            found += getattr(node, name, ())
    return found


@cache
def slow_files() -> dict[str, int]:
    """Return the CPU seconds in ``tests/slow.txt`` by path."""
    lines = SLOW_TABLE.read_text(encoding="utf-8").splitlines()
    rows = (line.split() for line in lines if line and not line.startswith("#"))
    return {path: int(seconds) for path, seconds in rows}
