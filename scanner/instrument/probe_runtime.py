# SPDX-License-Identifier: MIT
"""The runtime of the probes, added to a kernel's tree and removed again.

Two files are added, and one line each in Makefile and lib/Makefile; nothing else changes.
"""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import NamedTuple

from scanner import table_output
from scanner.instrument.unified_patch import patch_line, split_lines
from scanner.source.source_tree import RUNTIME_HEADER, RUNTIME_SOURCE, BadTree

PACKAGE = Path(__file__).resolve().parents[1]
INSTALLED = PACKAGE / "_runtime"  # put there by the wheel (pyproject.toml)
SOURCE_TREE = PACKAGE.parent / "kmod/instrument"
PLACES = {"kbl_probe.h": RUNTIME_HEADER, "kbl_probe.c": RUNTIME_SOURCE}
# GCC would split some functions (.part.0), and an exit in the other part has another frame than the
# entry: __tcp_retransmit_skb() on 6.1 had 11 calls without an exit of 12.
LINES = {
    "lib/Makefile": "obj-y += kbl_probe.o\n",
    "Makefile": "KBUILD_CFLAGS += $(call cc-option,-fno-partial-inlining)\n",
}


class Change(NamedTuple):
    """A file before and after a change; None means that the file does not exist."""

    path: str
    before: str | None
    after: str | None


def _read(path: Path) -> str | None:
    return path.read_bytes().decode("latin-1") if path.exists() else None


def _makefile(root: Path, name: str) -> str:
    text = _read(root / name)
    if text is None:
        raise BadTree(
            f"{root}: not a kernel tree: it lacks {name}, which builds the probes' runtime"
        )
    return text


def _with_line(root: Path, name: str, line: str) -> Change:
    """Return the change that adds a line at the end of a file in the tree."""
    old = _makefile(root, name)
    if line in _lines(old):
        return Change(name, old, old)
    return Change(
        name, old, f"{old}{line}" if old.endswith("\n") or not old else f"{old}\n{line[:-1]}"
    )


def _lines(text: str) -> list[str]:
    """Return the lines of a text, each followed by a newline."""
    return [f"{line}\n" for line in text.split("\n")]


def _without_line(text: str, line: str) -> str:
    """Return a text without the line that _with_line() added, even if the line has moved."""
    lines = _lines(text)
    if line in lines:
        del lines[len(lines) - 1 - lines[::-1].index(line)]
    return "".join(lines)[:-1]


def additions(root: Path) -> list[Change]:
    """Return the changes that add the runtime to a tree; none if the tree has it.

    Raises BadTree if the tree has no Makefile or no lib/Makefile.
    """
    folder = INSTALLED if INSTALLED.is_dir() else SOURCE_TREE
    changes = [_with_line(root, name, line) for name, line in LINES.items()]
    changes += [
        Change(place, _read(root / place), _read(folder / name)) for name, place in PLACES.items()
    ]
    return [change for change in changes if change.before != change.after]


def removals(root: Path) -> list[Change]:
    """Return the changes that remove the runtime from a tree; none if the tree lacks it."""
    changes = []
    for name, line in LINES.items():
        old = _read(root / name) or ""
        changes.append(Change(name, old, _without_line(old, line)))
    changes += [Change(place, _read(root / place), None) for place in PLACES.values()]
    return [change for change in changes if change.before != change.after]


def write(root: Path, changes: Iterable[Change]) -> None:
    """Write the changed files, and remove those whose `after` is None."""
    for path, _, after in changes:
        if after is None:
            (root / path).unlink()
        else:
            (root / path).parent.mkdir(parents=True, exist_ok=True)
            table_output.write_bytes(after.encode("latin-1"), root / path)


def patch(changes: Iterable[Change]) -> Iterator[str]:
    """Yield the lines of a patch that makes the changes, for ``patch -p1``."""
    for path, before, after in changes:
        names = (f"a/{path}" if before is not None else "/dev/null", f"b/{path}")
        old, new = (split_lines(text or "") for text in (before, after))
        for line in difflib.unified_diff(old, new, *names):
            yield patch_line(line[0], line[1:])
