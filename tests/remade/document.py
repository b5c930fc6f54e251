# SPDX-License-Identifier: MIT
"""The parts of docs/remade.md between its marks: <!-- remade: NAME --> ... <!-- end -->."""

from __future__ import annotations

import re
from pathlib import Path

DOCUMENT = Path(__file__).resolve().parents[2] / "docs" / "remade.md"
PART = re.compile(r"<!-- remade: (?P<name>[a-z-]+) -->\n(?P<body>.*?)<!-- end -->", re.DOTALL)


def names_in(text: str) -> list[str]:
    """Return the names of the document's parts, in its order."""
    return [found["name"] for found in PART.finditer(text)]


def part_of(text: str, name: str) -> str:
    """Return the body of a part, without the empty lines around it.  Raises KeyError."""
    for found in PART.finditer(text):
        if found["name"] == name:
            return found["body"].strip("\n") + "\n"
    raise KeyError(name)


def with_part(text: str, name: str, body: str) -> str:
    """Return the document with another body of the part `name`."""

    def replaced(found: re.Match[str]) -> str:
        if found["name"] != name:
            return found[0]
        return f"<!-- remade: {name} -->\n\n{body}\n<!-- end -->"

    return PART.sub(replaced, text)
