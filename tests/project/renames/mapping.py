# SPDX-License-Identifier: MIT
"""What is to be renamed, and where.

mapping.toml has three tables.  A key without a mark is a bare name: a variable, a parameter, a
function, a class, an imported name.  ``.old`` is an attribute, ``old=`` a keyword argument,
``'old'`` a whole string literal, ``*old`` a name of any of the first three kinds.

``[everywhere]`` holds names that mean one thing in all files; all its keys are of any kind.
``[in."FILE"]`` holds names of one file, ``[in."FILE:Class.function"]`` those of one scope and of
all scopes inside it.  The innermost scope that has a name decides.  FILE may be a pattern.
``[merged]`` holds new names that may exist already, with the reason.
"""

from __future__ import annotations

import tomllib
from collections.abc import Iterable
from fnmatch import fnmatch
from pathlib import Path
from typing import Any, NamedTuple

FILE = Path(__file__).with_name("mapping.toml")
BARE, ATTRIBUTE, KEYWORD, STRING = "", ".", "=", "'"
NAMES = (BARE, ATTRIBUTE, KEYWORD)
Key = tuple[str, str]  # kind, old name


class Scope(NamedTuple):
    """Renames of a file (`name` is "") or of a function or class in it."""

    name: str
    names: dict[Key, str]

    def holds(self, place: str) -> bool:
        """Whether `place`, a dotted name of functions and classes, is inside this scope."""
        return not self.name or place == self.name or place.startswith(f"{self.name}.")


def new_name(scopes: Iterable[Scope], place: str, kind: str, old: str) -> str | None:
    """Return the new name at a place, from the first scope that has one."""
    for scope in scopes:
        if (kind, old) in scope.names and scope.holds(place):
            return scope.names[kind, old]
    return None


class Mapping(NamedTuple):
    """All renames: `places` by pattern of files, scopes as the file has them."""

    everywhere: dict[Key, str]
    places: list[tuple[str, Scope]]
    merged: dict[str, str]
    shared: list[dict[str, Any]]  # see shared.py

    def of(self, file: str) -> list[Scope]:
        """Scopes that concern a file: the innermost first, a pattern after a name."""
        places = [(pattern, scope) for pattern, scope in self.places if fnmatch(file, pattern)]
        places.sort(key=lambda place: (len(place[1].name), "*" not in place[0]), reverse=True)
        found = [scope for _, scope in places]
        return [*found, Scope("", self.everywhere)]


def read(path: Path = FILE) -> Mapping:
    """The mapping.  Raises ValueError where it renames a name twice in one scope."""
    table = tomllib.loads(path.read_text(encoding="utf-8"))
    everywhere = _keys((f"*{old}", new) for old, new in table.get("everywhere", {}).items())
    places = [
        (file, Scope(scope, _keys(names.items())))
        for place, names in table.get("in", {}).items()
        for file, _, scope in [place.partition(":")]
    ]
    return Mapping(everywhere, places, table.get("merged", {}), table.get("shared", []))


def _keys(names: Iterable[tuple[str, str]]) -> dict[Key, str]:
    found: dict[Key, str] = {}
    for key, new in names:
        for kind in _kinds(key):
            old = key.strip(".='*")
            if found.setdefault((kind, old), new) != new:
                raise ValueError(f"{old} is renamed to {found[kind, old]} and to {new}")
    return found


def _kinds(key: str) -> tuple[str, ...]:
    if key.startswith("*"):
        return NAMES
    if key.startswith("."):
        return (ATTRIBUTE,)
    if key.startswith("'"):
        return (STRING,)
    return (KEYWORD,) if key.endswith("=") else (BARE,)
