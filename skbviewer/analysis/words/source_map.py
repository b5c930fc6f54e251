# SPDX-License-Identifier: MIT
"""Where each kernel function is in the source, according to the JSON of `skbscan scan`.

Input: this JSON file and, if there is one, the folder of the kernel's source.  Output: file, line
and layer (by folder) of a function, and the text of a source file.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from ...records import BadInput

# Suffixes of gcc's function variants (-fipa-sra, -fipa-cp, -fpartial-inlining).
VARIANT = re.compile(r"\.(?:constprop|isra|part|cold|lto_priv)(?:\.\d+)?")
MOST_BYTES = 8 << 20  # most bytes of a source file that are shown


class Place(NamedTuple):
    """Where a function is defined in the source.

    `file` is relative to the folder of the source; lines count from 1.
    """

    file: str
    line: int
    end_line: int
    layer: str


class SourceMap:
    """Finds where functions are defined; a function may be defined in several places.

    A name has several definitions because of branches of #if, static functions, and headers.
    """

    def __init__(self, places: Mapping[str, Sequence[Place]], tree: Path | None = None) -> None:
        self._places = {name: tuple(found) for name, found in places.items()}
        self.tree = tree

    def __len__(self) -> int:
        return len(self._places)

    def definitions(self, function: str) -> tuple[Place, ...]:
        """Return where a function is defined, places in .c files first.

        A variant that the compiler made of a function counts as this function.
        """
        found = self._places.get(function) or self._places.get(VARIANT.sub("", function), ())
        return tuple(sorted(found, key=lambda place: not place.file.endswith(".c")))

    def layer(self, function: str) -> str | None:
        """Return the layer that a function's folder has; None if the function is unknown."""
        found = self.definitions(function)
        return found[0].layer if found else None

    def text(self, place: Place) -> str:
        """Return the text of the source file that has `place`, at most MOST_BYTES of it.

        Raises BadInput if the file is missing, or outside the folder of the source.
        """
        if self.tree is None:
            raise BadInput(Path(place.file), None, "the folder of the kernel source is unknown")
        path = self.tree / place.file
        if not path.resolve().is_relative_to(self.tree.resolve()):
            raise BadInput(path, None, "is outside the kernel source")
        try:
            with path.open("rb") as file:
                return file.read(MOST_BYTES).decode("utf-8", "replace")
        except OSError as error:
            raise BadInput(path, None, f"cannot read: {error.strerror}") from error


def load(path: Path, tree: Path | None = None) -> SourceMap:
    """Read where functions are defined, from the output `path` of `skbscan scan --json`.

    `tree` is the folder of the kernel's source, if there is one.  Raises BadInput if the file was
    not written by `skbscan scan --json`.
    """
    try:
        data = json.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise BadInput(path, None, f"cannot read: {error.strerror}") from error
    except ValueError as error:  # from JSON or UTF-8
        raise BadInput(path, getattr(error, "pos", None), "not JSON written by skbscan") from error
    try:
        return SourceMap(_places(data["functions"]), tree)
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise BadInput(
            path, None, "the file is not a list of functions that skbscan wrote"
        ) from error


def _places(rows: Sequence[Mapping[str, Any]]) -> dict[str, list[Place]]:
    found: dict[str, list[Place]] = {}
    for row in rows:
        line = int(row["line"])
        end = int(row.get("end_line") or line)
        place = Place(str(row["file"]), line, end, str(row.get("layer", "other")))
        known = found.setdefault(str(row["function"]), [])
        if place not in known:
            known.append(place)
    return found
