# SPDX-License-Identifier: MIT
"""The call graph around one packet function, as DOT, or as SVG through Graphviz."""

from __future__ import annotations

import subprocess
from collections import deque
from collections.abc import Iterable
from typing import Any

_COLOURS = {"direct": "#009e73", "caller": "#0072b2", "callee": "#e69f00", None: "#8a8a8a"}


class NoGraph(Exception):
    """Raised if the graph cannot be made; the text says why in one line."""


def reachable(
    functions: list[dict[str, Any]],
    edges: Iterable[tuple[int, int]],
    root: str,
    depth: int,
    callers: bool = False,
) -> tuple[dict[int, int], list[tuple[int, int]]]:
    """Return the functions near a root function, and the calls between these functions.

    The first result maps the index of each function in `functions` to its distance from the
    function `root`. The distance from the root is at most `depth` calls. With `callers`, the search
    goes from functions to their callers. Raises NoGraph if no packet function has the name `root`.
    """
    pairs = list(edges)
    next_to: dict[int, list[int]] = {}
    for caller, callee in pairs:
        one, other = (callee, caller) if callers else (caller, callee)
        next_to.setdefault(one, []).append(other)
    named = [n for n, f in enumerate(functions) if f["function"] == root and f["kind"]]
    # Definitions for other architectures call nothing here.
    roots = [n for n in named if not functions[n]["copy"]] or named
    if not roots:
        raise NoGraph(f"{root}: no packet function has this name")
    seen = dict.fromkeys(roots, 0)
    queue = deque(roots)
    while queue:
        number = queue.popleft()
        if seen[number] < depth:
            for other in next_to.get(number, ()):
                if other not in seen:
                    seen[other] = seen[number] + 1
                    queue.append(other)
    return seen, [(a, b) for a, b in pairs if a in seen and b in seen]


def dot(functions: list[dict[str, Any]], seen: dict[int, int], edges: list[tuple[int, int]]) -> str:
    """Return a call graph as DOT text; functions of the same file are drawn together.

    `seen` maps each function to draw (its index in `functions`) to its distance from the root.
    """
    lines = [
        "digraph packet_functions {",
        "  rankdir=LR;",
        '  node [shape=box, style="rounded,filled", fontname="sans-serif", fontcolor=white];',
    ]
    files: dict[str, list[int]] = {}
    for number in sorted(seen):
        files.setdefault(functions[number]["file"], []).append(number)
    for index, (file, numbers) in enumerate(sorted(files.items())):
        label = _quoted(file)
        lines.append(f'  subgraph cluster_{index} {{ label="{label}"; color="#c7c7c7";')
        for number in numbers:
            row = functions[number]
            lines.append(
                f'    n{number} [label="{row["function"]}", '
                f'fillcolor="{_COLOURS[row["kind"]]}", tooltip="{label}:{row["line"]}"];'
            )
        lines.append("  }")
    lines += [f"  n{a} -> n{b};" for a, b in sorted(set(edges))]
    return "\n".join([*lines, "}", ""])


def _quoted(name: str) -> str:
    return name.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")


TEXT = (".dot", ".gv")
DRAWN = (".svg", ".png", ".pdf")  # what a file's name says that dot is to make


def drawing(text: str, suffix: str) -> bytes:
    """Return a drawing made from the DOT text `text` in the format `suffix`, which is one of DRAWN.

    Raises NoGraph if Graphviz is missing or fails.
    """
    try:
        done = subprocess.run(
            ["dot", f"-T{suffix[1:]}"],
            input=text.encode(errors="replace"),
            capture_output=True,
            check=True,
            timeout=300,
        )
    except FileNotFoundError:
        raise NoGraph("drawings need the program dot (Debian package graphviz)") from None
    except subprocess.CalledProcessError as problem:
        said = problem.stderr.decode(errors="replace").strip().partition("\n")[0]
        raise NoGraph(f"dot failed: {said}") from None
    except subprocess.TimeoutExpired as problem:
        raise NoGraph(f"dot took more than {problem.timeout:.0f} s; try --depth") from None
    return done.stdout
