# SPDX-License-Identifier: MIT
"""The layer of a function, from the table in resources/layers.json."""

from __future__ import annotations

import json
from fnmatch import fnmatchcase
from functools import cache
from typing import NamedTuple

from ...records import resource

OTHER = "other"


class LayerStyle(NamedTuple):
    """The name of a layer, and its colours ("#rrggbb") on light and on dark backgrounds."""

    name: str
    colour: str
    colour_dark: str


@cache
def _table() -> tuple[tuple[LayerStyle, ...], tuple[tuple[str, str], ...]]:
    data = json.loads(resource("layers.json").read_text(encoding="utf-8"))
    styles = tuple(LayerStyle(s["name"], s["colour"], s["colour_dark"]) for s in data["layers"])
    return styles, tuple((pattern, layer) for pattern, layer in data["functions"])


def layers() -> tuple[LayerStyle, ...]:
    """Return all layers, from the wire upwards."""
    return _table()[0]


@cache
def layer_of(function: str) -> str:
    """Return the layer of the first pattern that matches the function's name, otherwise "other"."""
    return next((layer for pattern, layer in _table()[1] if _fits(function, pattern)), OTHER)


def _fits(name: str, pattern: str) -> bool:
    """Return what fnmatchcase() returns, but use no regular expression for simple patterns."""
    head, star, rest = pattern.partition("*")
    if "?" in pattern or "[" in pattern or rest:
        return fnmatchcase(name, pattern)
    return name.startswith(head) if star else name == pattern
