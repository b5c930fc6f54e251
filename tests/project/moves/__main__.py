# SPDX-License-Identifier: MIT
"""Carries out mapping.toml: `python -m tests.project.moves`, from the root of the tree.

Files are moved by `git mv`, then imports and texts are rewritten.  Nothing is committed.  Where the
mapping has been carried out already, nothing changes; a file that it does not know is an error.
"""

from __future__ import annotations

import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path, PurePosixPath

from ..tree import ROOT, project_files
from . import imports, lines
from .mapping import Plan, Unfit, dotted, modules, pending, read
from .texts import Renamer

TEXTS = (".py", ".md", ".toml", ".txt", ".c", ".h", ".sh", ".1", ".yml", ".yaml", ".conf", ".json")
# Inputs of tests, and this mapping.
NOT_OURS = ("tests/scanner/trees/", "tests/scanner/instrument/", "tests/project/moves/")
RUFF = Path(sys.executable).parent / "ruff"


def main() -> int:
    """Carry out the mapping; the exit code is 1 where it does not fit the tree."""
    mapping, before = read(), project_files()
    try:
        moves = pending(mapping, before)
    except Unfit as error:
        print(f"moves: {error}", file=sys.stderr)
        return 1
    if not moves:
        print("moves: nothing is left to do")
        return 0
    _move(mapping, moves)
    unclear = _rewrite(mapping, moves, before)
    # It contains the hash of kbl.h, whose comments name files.
    subprocess.run([sys.executable, "kmod/gen_layout.py"], cwd=ROOT, check=True)
    for words in (["check", "--quiet", "--select", "I,RUF022", "--fix"], ["format", "--quiet"]):
        subprocess.run([str(RUFF), *words, "."], cwd=ROOT, check=False)
    subprocess.run(["git", "add", "--all", "."], cwd=ROOT, check=True)
    gone = [old for old, new in mapping.moves.items() if old not in before and new not in before]
    print(f"moves: {len(moves)} files moved")
    for line in [*(f"not there: {old}" for old in gone), *(f"unclear: {u}" for u in unclear)]:
        print(f"  {line}")
    return 0


def _move(mapping: Plan, moves: dict[str, str]) -> None:
    """Move the files; new folders are made, old ones lose what compiled code is left in them."""
    for folder, words in mapping.folders.items():
        (ROOT / folder).mkdir(parents=True, exist_ok=True)
        init = ROOT / folder / "__init__.py"
        if not init.exists() and f"{folder}/__init__.py" not in moves.values():
            init.write_text(f'# SPDX-License-Identifier: MIT\n"""{words}"""\n', encoding="utf-8")
    for old, new in moves.items():
        (ROOT / new).parent.mkdir(parents=True, exist_ok=True)
        subprocess.run(["git", "mv", old, new], cwd=ROOT, check=True)
    for folder in {str(PurePosixPath(old).parent) for old in moves}:
        shutil.rmtree(ROOT / folder / "__pycache__", ignore_errors=True)
        if (ROOT / folder).is_dir() and not any((ROOT / folder).iterdir()):
            (ROOT / folder).rmdir()


def _rewrite(mapping: Plan, moves: dict[str, str], before: list[str]) -> list[str]:
    """Rewrite all files; returns the places that name a file by a word that fits several."""
    renamer, moved, bound = Renamer(moves, before), modules(moves), _bound(moves, before)
    for old in _texts(before):
        path = ROOT / moves.get(old, old)
        text = path.read_text(encoding="utf-8")
        made = text
        for edit in mapping.edits:
            if edit.file == moves.get(old, old):
                made = made.replace(edit.old, edit.new)
        if path.suffix == ".py":
            package, new_package = _package(old), _package(moves.get(old, old))
            made = imports.rewrite(made, imports.Move(moved, bound, package, new_package))
        made = renamer.rewrite(made, old, path.suffix == ".py")
        if made != text:
            made = lines.rewrap(made, text, path.suffix)
            path.write_text(made, encoding="utf-8")
    return renamer.unclear


def _bound(moves: dict[str, str], before: list[str]) -> set[str]:
    """Return the names that packages bind themselves, which hide modules of the same name."""
    found = set[str]()
    for path in (name for name in before if name.endswith("/__init__.py")):
        text = (ROOT / moves.get(path, path)).read_text(encoding="utf-8")
        found |= imports.bound_in(dotted(path), text)
    return found


def _package(path: str) -> tuple[str, ...]:
    return PurePosixPath(path).parent.parts


def _texts(files: list[str]) -> Iterator[str]:
    for name in files:
        path = PurePosixPath(name)
        if (path.suffix in TEXTS or path.name in ("Makefile", "Kbuild")) and not name.startswith(
            NOT_OURS
        ):
            yield name


if __name__ == "__main__":
    sys.exit(main())
