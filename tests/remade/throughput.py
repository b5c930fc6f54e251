# SPDX-License-Identifier: MIT
"""Thesis, Figures 6-3 to 6-6: throughput in three stages, from the tables of docs/overhead.md."""

from __future__ import annotations

from pathlib import Path

from .markdown import table

OVERHEAD = Path(__file__).resolve().parents[2] / "docs" / "overhead.md"
PLAIN = "no module"
LINES = {  # a line of docs/overhead.md: what the thesis calls it, and its change of throughput
    "all registered, inactive": ("all probes in, logging off", "as the plain kernel"),
    "all active, to memory": ("logging to memory", "-0.1 Mbit/s"),
    "all active, to disk": ("logging to disk", "-4.33 %"),
    "function_graph, all functions": ("KFT: every function of the kernel", "-94.47 %"),
}


def throughput() -> str:
    """Return the change of throughput in each stage beside the thesis' own."""
    found = _tables(OVERHEAD.read_text("utf-8"))
    rows = [
        (stage, theirs, *(_change(lines[ours], lines[PLAIN]) for lines in found.values()))
        for ours, (stage, theirs) in LINES.items()
    ]
    return table(("stage", "thesis", *(f"here, {kernel}" for kernel in found)), rows)


def _tables(text: str) -> dict[str, dict[str, float]]:
    """Return Mbit/s by kernel and line, from the document's first table of each series."""
    found: dict[str, dict[str, float]] = {}
    kernel = ""
    for line in text.splitlines():
        cells = [cell.strip() for cell in line.split("|")[1:-1]]
        if len(cells) > 1 and cells[1] == "Mbit/s":
            kernel = "" if _series(cells[0]) in map(_series, found) else cells[0]
            if kernel:
                found[kernel] = {}
        elif not cells:
            kernel = ""
        elif kernel and not cells[1].startswith("-"):
            found[kernel][cells[0]] = float(cells[1])
    return {kernel: lines for kernel, lines in found.items() if PLAIN in lines}


def _series(kernel: str) -> list[str]:
    """Return the first two numbers of a kernel's version, such as ["6", "12"]."""
    return kernel.split(".")[:2]


def _change(mbit: float, plain: float) -> str:
    return f"{100 * (mbit / plain - 1):+.1f} %"
