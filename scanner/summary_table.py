# SPDX-License-Identifier: MIT
"""The summary table: files, forms of the struct, packet functions, results of the parsers."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any


def _files(top: str) -> str:
    return f"source files, {top}" if top else "source files in the top folder"


def lines(counts: dict[str, Any]) -> list[str]:
    """Return the summary as lines of text, one line per number."""
    seed = counts["type"]
    rows = [(_files(top), str(number)) for top, number in counts["files"].items()]
    if counts["links"]:
        rows.append(("symbolic links, not followed", str(counts["links"])))
    rows += [
        (f"aliases (macros that name {seed})", str(counts["aliases"])),
        ("  ... that use another alias", str(counts["aliases_by_chain"])),
        ("  ... that cast its cb", str(counts["aliases_by_cast_of_cb"])),
        (f"customized data types (typedefs that name {seed})", str(counts["customized_types"])),
        ("nested structures", str(counts["nested_structures"])),
    ]
    for title, key in (("in .c files", "source"), ("in headers", "headers")):
        found = counts[key]
        indirect = found["callers"] + found["callees"]
        rows += [
            (f"packet processing functions {title}", str(found["direct"] + indirect)),
            ("  direct", str(found["direct"])),
            ("  indirect", f"{indirect} ({found['callers']} callers, {found['callees']} callees)"),
            (f"all functions {title}", str(found["all"])),
        ]
    rows.append(("functions not read", str(counts["unread"])))
    for kind, parsed in counts["parsed"].items():
        share = 100 * parsed["fallbacks"] / max(1, parsed["tried"])
        rows.append(
            (f"{kind} fall-backs", f"{parsed['fallbacks']} of {parsed['tried']} ({share:.2f} %)")
        )
    width = max(len(name) for name, _ in rows)
    return [f"{name:<{width}}  {value}" for name, value in rows]


def flat(counts: Mapping[str, Any], before: str = "") -> Iterator[dict[str, Any]]:
    """Yield the numbers of the JSON summary as rows; a nested key is ``outer.inner``."""
    for name, value in counts.items():
        if isinstance(value, dict):
            yield from flat(value, f"{before}{name}.")
        else:
            yield {"key": before + name, "value": value}
