# SPDX-License-Identifier: MIT
"""Cells of CSV files.

A spreadsheet takes a text that begins with =, +, - or @ for a formula. Names of processes, devices
and functions may begin with these characters. With an apostrophe in front, the spreadsheet treats
the cell as a text (OWASP, "CSV Injection").
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import Any

from ..readers.printable_names import printable

FORMULA = re.compile(r"\s*[=+@-]|[\t\r\n]")
NUMBER = re.compile(r"[-+]?\d[\d.,]*")
# What separates cells or opens one, if a formula follows.  A number with a sign is not a formula.
INSIDE = re.compile(r"([,;\t]\s*\"?|\")(?=[=@]|[-+](?!\d[\d.]*(?:[\s,]|$)))")


def csv_cell(value: Any) -> Any:
    """Return a value for a CSV file; texts that look like formulas get an apostrophe in front."""
    if isinstance(value, str) and FORMULA.match(value) and not NUMBER.fullmatch(value):
        return f"'{value}"
    return value


def comment_lines(texts: Iterable[str]) -> Iterator[str]:
    """Yield the lines of a comment, in which no cell looks like a formula.

    Spreadsheets divide all lines into cells, even comments. A comment is one line: unprintable
    characters in it become escapes.
    """
    for text in texts:
        yield INSIDE.sub(r"\1'", f"# {printable(text)}") + "\n"
