# SPDX-License-Identifier: MIT
"""Cells of CSV files.

A spreadsheet mistakes a text that begins with =, +, - or @ for a formula, and a process, a device
or a function may have such a name. With an apostrophe in front, the cell remains a text (OWASP,
"CSV Injection").
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import Any

FORMULA = ("=", "+", "-", "@", "\t", "\r")
NUMBER = re.compile(r"[-+]?\d[\d.,]*")
# A character that separates cells, if a formula follows.  A number with a sign is not a formula.
INSIDE = re.compile(r"([,;\t])(?=[=@]|[-+](?!\d[\d.]*(?:[\s,]|$)))")


def csv_cell(value: Any) -> Any:
    """Return a value for a CSV file: texts that look like formulas begin with an apostrophe."""
    if isinstance(value, str) and value.startswith(FORMULA) and not NUMBER.fullmatch(value):
        return f"'{value}"
    return value


def comment_lines(texts: Iterable[str]) -> Iterator[str]:
    """Yield the lines of comments, which spreadsheets divide into cells like all other lines."""
    for text in texts:
        yield INSIDE.sub(r"\1'", f"# {text}") + "\n"
