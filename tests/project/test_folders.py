# SPDX-License-Identifier: MIT
"""Folders are small and described, and modules import each other in no circle."""

from __future__ import annotations

import ast
from collections import Counter
from pathlib import PurePosixPath

from .tree import ROOT, project_files

PACKAGE_LIMIT, TEST_LIMIT = 25, 40


def _modules() -> dict[str, str]:
    """All modules of the packages: dotted name to path."""
    return {
        path.removesuffix(".py").replace("/", ".").removesuffix(".__init__"): path
        for path in project_files()
        if path.endswith(".py") and path.startswith(("skbviewer/", "scanner/"))
    }


def test_no_folder_is_too_large() -> None:
    paths = [PurePosixPath(name) for name in project_files() if name.endswith(".py")]
    sizes = Counter(str(path.parent) for path in paths)
    large = {
        folder: size
        for folder, size in sizes.items()
        if size > (TEST_LIMIT if folder.startswith("tests") else PACKAGE_LIMIT)
    }
    assert not large, f"divide by what the modules are about: {large}"


def test_architecture_names_every_folder() -> None:
    text = (ROOT / "ARCHITECTURE.md").read_text(encoding="utf-8")
    folders = {str(PurePosixPath(path).parent) for path in _modules().values()} - {"skbviewer"}
    assert not sorted(folder for folder in folders if f"`{folder}/`" not in text)


def _imports(module: str, path: str, modules: dict[str, str]) -> set[str]:
    package = PurePosixPath(path).parent.parts
    found = set[str]()
    for node in ast.walk(ast.parse((ROOT / path).read_text(encoding="utf-8"))):
        if isinstance(node, ast.ImportFrom):
            start = package[: len(package) - node.level + 1] if node.level else ()
            base = ".".join([*start, *([node.module] if node.module else [])])
            found |= {
                whole if (whole := f"{base}.{alias.name}") in modules else base
                for alias in node.names
            }
    return found & modules.keys() - {module}


def test_no_modules_import_each_other_in_a_circle() -> None:
    """Imports for types only count, too."""
    modules = _modules()
    graph = {name: _imports(name, path, modules) for name, path in modules.items()}
    inside = sorted(name for name in graph if _reaches(graph, name))
    assert not inside, f"move shared types down, or pass what is needed: {inside}"


def _reaches(graph: dict[str, set[str]], start: str) -> bool:
    """Whether a module imports itself through others."""
    seen, todo = set[str](), list(graph[start])
    while todo:
        if (name := todo.pop()) == start:
            return True
        if name not in seen:
            seen.add(name)
            todo.extend(graph[name])
    return False
