# SPDX-License-Identifier: MIT
"""Which module moves where: the mapping as written, and its part that is not yet done."""

from __future__ import annotations

import tomllib
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath

FILE = Path(__file__).with_name("mapping.toml")
PACKAGES = ("skbviewer", "scanner")  # whose folders must be known whole


class Unfit(Exception):
    """The tree and the mapping contradict each other; says where."""


@dataclass(frozen=True)
class Edit:
    """A text of one file that no rule finds."""

    file: str
    old: str
    new: str


@dataclass
class Plan:
    """The mapping file."""

    moves: dict[str, str]
    folders: dict[str, str]
    stays: set[str]
    edits: list[Edit] = field(default_factory=list)


def read(path: Path = FILE) -> Plan:
    """Read a mapping; raises Unfit if two modules have one new path."""
    whole = tomllib.loads(path.read_text(encoding="utf-8"))
    first, again = (
        {f"{old}.py": f"{new}.py" for old, new in whole.get(table, {}).items()}
        for table in ("moves", "again")
    )
    stays = {f"{top}/{name}.py" for top, names in whole["stays"].items() for name in names}
    for moves in (first, again):
        news = list(moves.values())
        if twice := sorted(new for new in news if news.count(new) > 1):
            raise Unfit(f"two modules go to {twice[0]}")
    moves = {old: again.get(new, new) for old, new in first.items()} | again
    if both := sorted(set(moves) & set(moves.values())):
        raise Unfit(f"{both[0]} is both an old and a new path")
    edits = [Edit(**edit) for edit in whole.get("edits", ())]
    return Plan(moves, dict(whole["folders"]), stays, edits)


def pending(mapping: Plan, files: Collection[str]) -> dict[str, str]:
    """Return the moves that this tree still needs, old path to new path.

    Raises Unfit if a file is there under both of its paths, or if a divided folder of a package
    holds a file that the mapping does not know.
    """
    there = set(files)
    todo = {old: new for old, new in mapping.moves.items() if old in there}
    if both := sorted(old for old, new in todo.items() if new in there):
        raise Unfit(f"{both[0]} is there, and so is {mapping.moves[both[0]]}")
    divided = {
        str(PurePosixPath(old).parent)
        for old, new in mapping.moves.items()
        if PurePosixPath(old).parent != PurePosixPath(new).parent and old.startswith(PACKAGES)
    }
    known = {*mapping.moves, *mapping.moves.values(), *mapping.stays}
    unknown = [
        name
        for name in sorted(there - known)
        if (path := PurePosixPath(name)).suffix == ".py"
        and path.name != "__init__.py"
        and str(path.parent) in divided
    ]
    if unknown:
        raise Unfit("mapping.toml does not know " + ", ".join(unknown))
    return todo


def dotted(path: str) -> str:
    """Return the module of a path: "a/b.py" is "a.b", "a/__init__.py" is "a"."""
    return path.removesuffix(".py").replace("/", ".").removesuffix(".__init__")


def modules(moves: Mapping[str, str]) -> dict[str, str]:
    """Return the same moves by names of modules."""
    return {dotted(old): dotted(new) for old, new in moves.items()}
