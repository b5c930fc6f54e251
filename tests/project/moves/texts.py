# SPDX-License-Identifier: MIT
"""Rewrites paths and dotted names of moved modules wherever a text names them."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Collection, Mapping
from pathlib import PurePosixPath

from .mapping import dotted, modules

PATH = re.compile(r"(?<![\w*/.}-])(?:[\w-]+/)*[\w-]+\.py\b(?!:?\w)")
DOTTED = re.compile(r"(?<![\w./-])(?<!from )(?<!import )(?:skbviewer|scanner|tests)(?:\.\w+)+")
FROM = re.compile(r"\bfrom ((?:skbviewer|scanner|tests)(?:\.\w+)+) import (\w+)")
LATER = re.compile(r'"(\.\w+)"')  # what an __init__.py imports when it is asked for
DEPTH = re.compile(r"(?<=__file__\)\.)(resolve\(\)\.)?parents\[(\d+)\]")


class Renamer:
    """Knows by which words a text may name a module that moves."""

    def __init__(self, moves: Mapping[str, str], before: Collection[str]) -> None:
        """`moves`: old to new paths, as they are done now; `before`: all paths before them."""
        self._moves = moves
        self._modules = modules(moves)
        self._after = {*self._modules.values()}
        self._by_base = defaultdict[str, list[str]](list)
        for path in before:
            if path.endswith(".py"):
                self._by_base[PurePosixPath(path).name].append(path)
        folders = {old: new for old, new in moves.items() if old.endswith("/__init__.py")}
        self._folders = {
            re.compile(rf"(?<![\w-]){_tail(old, 2)}(?![\w-])"): _tail(new, 2)
            for old, new in folders.items()
        }
        self.unclear: list[str] = []

    def rewrite(self, text: str, old_path: str, is_python: bool) -> str:
        """Return the text of a file with the new names; `old_path` is the file's, before."""
        text = PATH.sub(lambda match: self._path(match[0], old_path), text)
        for pattern, new in self._folders.items():
            text = pattern.sub(new, text)
        text = DOTTED.sub(lambda match: self._dotted(match[0]), text)
        text = FROM.sub(lambda match: self._from(*match.groups()), text)
        if old_path.endswith("/__init__.py") and "import_module(" in text:
            package = dotted(old_path)
            text = LATER.sub(lambda match: f'"{self._later(package, match[1])}"', text)
        if is_python and (new_path := self._moves.get(old_path)):
            deeper = new_path.count("/") - old_path.count("/")
            text = DEPTH.sub(lambda m: f"{m[1] or ''}parents[{int(m[2]) + deeper}]", text)
        return text

    def _path(self, said: str, at: str) -> str:
        fits = [
            path
            for path in self._by_base[PurePosixPath(said).name]
            if path == said or path.endswith(f"/{said}")
        ]
        if said in fits:
            fits = [said]
        for near in (str(PurePosixPath(at).parent), at.split("/")[0]):
            if len(fits) > 1 and (same := [path for path in fits if path.startswith(f"{near}/")]):
                fits = same
        if not any(path in self._moves for path in fits):
            return said
        if len(fits) > 1:
            self.unclear.append(f"{at}: {said} may be {' or '.join(fits)}")
            return said
        new = PurePosixPath(self._moves[fits[0]])
        left_out = fits[0].count("/") - said.count("/")
        return "/".join(new.parts[left_out:]) if "/" in said else new.name

    def _from(self, module: str, name: str) -> str:
        """What programs within strings import; imports of files are right already."""
        is_new = f"{module}.{name}" in self._after
        return f"from {module if is_new else self._modules.get(module, module)} import {name}"

    def _later(self, package: str, said: str) -> str:
        new = self._modules.get(package + said, "")
        return new.removeprefix(package) if new.startswith(f"{package}.") else said

    def _dotted(self, said: str) -> str:
        parts = said.split(".")
        for count in range(len(parts), 1, -1):
            head = ".".join(parts[:count])
            if head in self._after:
                return said
            if head in self._modules:
                return ".".join([self._modules[head], *parts[count:]])
        return said


def _tail(init: str, count: int) -> str:
    return "/".join(PurePosixPath(init).parent.parts[-count:])
