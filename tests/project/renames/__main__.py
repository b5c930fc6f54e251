# SPDX-License-Identifier: MIT
"""Rename; ``--check`` only says what would change, ``--again`` accepts new names that exist."""

from __future__ import annotations

import argparse
import re
import sys
from collections.abc import Sequence

from ..tree import ROOT, project_files
from .edits import QUOTED, Finder, apply, find, modules_of
from .mapping import BARE, KEYWORD, Mapping, Scope, new_name, read
from .shared import read as tables
from .shared import share

# Inputs of the scanner's tests are no source of the project; these two hold the old names.
NOT_OURS = ("tests/scanner/trees/", "tests/project/renames/", "tests/project/test_plain_words.py")


def _collisions(file: str, found: Finder, scopes: Sequence[Scope], merged: set[str]) -> list[str]:
    """New names that stand already where an old one stands, or in a function inside of that.

    Likewise two old names that would become one.
    """
    places: dict[tuple[str, str], set[str]] = {}
    for use in found.uses:
        places.setdefault((use.kind, use.name), set()).add(use.place)
    return sorted(
        f"{file}:{place}: {kind}{old} cannot become {kind}{new}, which is there already"
        for (kind, old), olds in places.items()
        if kind != KEYWORD
        for place in olds
        if (new := new_name(scopes, place, kind, old)) is not None and new not in merged
        for other in places.get((kind, new), ())
        if Scope(place, {}).holds(other) and new_name(scopes, other, kind, new) is None
    ) + sorted(
        f"{file}:{place}: {kind}{old} and {kind}{second} cannot both become {new}"
        for (kind, old), olds in places.items()
        if kind == BARE
        for place in olds
        if (new := new_name(scopes, place, kind, old)) is not None and new not in merged
        for (kind2, second), others in places.items()
        if kind2 == BARE and second != old
        for other in others
        if Scope(place, {}).holds(other) and new_name(scopes, other, kind, second) == new
    )


def _documents(mapping: Mapping, files: Sequence[str]) -> dict[str, str]:
    """Markdown with names of [everywhere] in backticks."""
    changed: dict[str, str] = {}
    for file in files:
        if file.endswith(".md"):
            before = (ROOT / file).read_text(encoding="utf-8")
            after = QUOTED.sub(
                lambda m: m[0].replace(m[1], mapping.everywhere.get((BARE, m[1]), m[1])), before
            )
            changed |= {file: after} if after != before else {}
    return changed


def main() -> int:
    """Rename all that the mapping says."""
    parser = argparse.ArgumentParser(prog="python -m tests.project.renames", description=__doc__)
    parser.add_argument(
        "--check", action="store_true", help="write nothing; 1 if something is left"
    )
    parser.add_argument("--again", action="store_true", help="accept new names that exist already")
    given = parser.parse_args()
    mapping, files, wrong, count = read(), project_files(), list[str](), 0
    changed: dict[str, str] = _documents(mapping, files)
    for file in files:
        if not file.endswith(".py") or file.startswith(NOT_OURS):
            continue
        text, scopes = (ROOT / file).read_text(encoding="utf-8"), mapping.of(file)
        olds = {old for scope in scopes for _, old in scope.names}
        if not olds & set(re.findall(r"\w+", text)):
            continue
        found = find(text, scopes, modules_of(file, text, set(files)))
        if found.edits:
            wrong += _collisions(file, found, scopes, set(mapping.merged))
            changed[file], count = apply(text, found.edits), count + len(found.edits)
    texts = {
        f: (ROOT / f).read_text(encoding="utf-8") for f in files if f.endswith(".py")
    } | changed
    changed |= share(
        {f: t for f, t in texts.items() if f.endswith(".py") and not f.startswith(NOT_OURS)},
        tables(mapping.shared),
    )
    if wrong and not given.again:
        print("\n".join(wrong), file=sys.stderr)
        return 2
    if not given.check:
        for file, text in changed.items():
            (ROOT / file).write_text(text, encoding="utf-8")
    print(f"{count} names in {len(changed)} files")
    return int(given.check and bool(changed))


if __name__ == "__main__":
    sys.exit(main())
