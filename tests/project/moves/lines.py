# SPDX-License-Identifier: MIT
"""Breaks lines of prose that became too long because a name in them did."""

from __future__ import annotations

import ast
import re
from collections.abc import Collection

LIMITS = {".py": 100, ".md": 120}
# Where a paragraph of Markdown ends: an item, a heading, a table, a block of code.
NEW = re.compile(r"\s*(?:[-*|#>]|\d+\.|```|$)")


def rewrap(text: str, before: str, suffix: str) -> str:
    """Return a text whose long lines of prose are broken, of those that are not in `before`."""
    limit = LIMITS.get(suffix)
    if limit is None:
        return text
    lines, known = text.splitlines(), set(before.splitlines())
    prose = _docstrings(text) if suffix == ".py" else set(range(len(lines)))
    at = 0
    while at < len(lines):
        line = lines[at]
        if len(line) > limit and line not in known and _is_prose(lines, at, suffix, prose):
            cut = line.rindex(" ", 0, limit + 1)
            prefix, rest = _prefix(line, suffix), line[cut + 1 :]
            lines[at] = line[:cut]
            if _goes_on(lines, at + 1, prefix, suffix, prose):
                lines[at + 1] = f"{prefix}{rest} {lines[at + 1][len(prefix) :]}"
            else:
                lines.insert(at + 1, prefix + rest)
                prose = {n + 1 if n > at else n for n in prose} | {at + 1}
        at += 1
    return "\n".join(lines) + "\n"


def _docstrings(text: str) -> set[int]:
    """Return the numbers, from 0, of all lines of docstrings that hold no quotes."""
    found = set[int]()
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef) and ast.get_docstring(
            node
        ):
            said = node.body[0]
            found.update(range(said.lineno - 1, said.end_lineno or said.lineno))
    lines = text.splitlines()
    return {n for n in found if not lines[n].endswith('"""')}


def _is_prose(lines: list[str], at: int, suffix: str, prose: Collection[int]) -> bool:
    line = lines[at]
    if suffix == ".md":
        return not line.startswith(("|", "#", "    ", "$"))
    return at in prose or line.lstrip().startswith("# ")


def _prefix(line: str, suffix: str) -> str:
    indent = line[: len(line) - len(line.lstrip())]
    if suffix == ".md":
        return indent + "  " * line.lstrip().startswith("- ")
    return indent + "# " * line.lstrip().startswith("# ")


def _goes_on(lines: list[str], at: int, prefix: str, suffix: str, prose: Collection[int]) -> bool:
    """Whether a line continues the paragraph of the line before it."""
    if at == len(lines) or not lines[at].startswith(prefix):
        return False
    said = lines[at][len(prefix) :]
    if suffix == ".md":
        return not NEW.match(said) and not said.startswith(" ")
    if prefix.endswith("# "):
        return bool(said.strip())
    return at in prose and bool(said.strip()) and not said.startswith((" ", '"""', "#"))
