# SPDX-License-Identifier: MIT
"""A unified diff of two texts with the same number of lines, compared line by line."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator

from scanner.source.inserted_probe_text import PREFIX

_CONTEXT = 3
_NO_NEWLINE = "\\ No newline at end of file\n"


def split_lines(text: str) -> list[str]:
    """Return the lines of a text; only the last one may lack its newline."""
    lines = text.split("\n")
    last = lines.pop()
    return [line + "\n" for line in lines] + ([last] if last else [])


def patch_line(sign: str, line: str) -> str:
    """Return a line of a patch; if `line` lacks a newline, a remark that says so follows."""
    return sign + line if line.endswith("\n") else f"{sign}{line}\n{_NO_NEWLINE}"


def _name(path: str) -> str:
    """Return a file's name as patches contain it: bytes as Latin-1, unusual bytes in C's quotes."""
    name = os.fsencode(path).decode("latin-1")
    if re.search(r'[\x00-\x1f\x7f"\\]', name):
        return '"' + re.sub(r"[^ -!#-\[\]-~]", lambda m: f"\\{ord(m[0]):03o}", name) + '"'
    return f"{name}\t" if " " in name else name


def diff_lines(path: str, old: str, new: str) -> Iterator[str]:
    """Yield the diff of a file as ``patch -p1`` reads it; nothing if the texts are equal."""
    if old == new:
        return
    added = split_lines(PREFIX) if new.startswith(PREFIX) and not old.startswith(PREFIX) else []
    olds, news = split_lines(old), split_lines(new.removeprefix(PREFIX) if added else new)
    if len(olds) != len(news):
        raise ValueError(f"{path}: lines were added")
    changed = [i for i, pair in enumerate(zip(olds, news, strict=True)) if pair[0] != pair[1]]
    if added and (not changed or changed[0] > 0):
        changed.insert(0, 0)
    yield f"--- {_name(f'a/{path}')}\n+++ {_name(f'b/{path}')}\n"
    while changed:
        count = 1
        while count < len(changed) and changed[count] - changed[count - 1] <= 2 * _CONTEXT:
            count += 1
        first = max(0, changed[0] - _CONTEXT)
        last = min(len(olds), changed[count - 1] + _CONTEXT + 1)
        yield from _hunk(olds, news, first, last, added)
        changed = changed[count:]


def _hunk(olds: list[str], news: list[str], first: int, last: int, added: list[str]) -> list[str]:
    more = added if first == 0 else []
    shift = 0 if first == 0 else len(added)
    size = last - first
    lines = [f"@@ -{first + 1},{size} +{first + 1 + shift},{size + len(more)} @@\n"]
    lines += [f"+{line}" for line in more]
    pending: list[str] = []
    for old, new in zip(olds[first:last], news[first:last], strict=True):
        if old == new:
            lines += [*pending, patch_line(" ", old)]
            pending = []
        else:
            lines.append(patch_line("-", old))
            pending.append(patch_line("+", new))
    return lines + pending
