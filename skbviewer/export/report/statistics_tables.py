# SPDX-License-Identifier: MIT
"""Statistics in a report: drops, layers and functions."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ...analysis.stats.statistic_types import Table
from ...analysis.words.time_words import duration, microseconds
from ...records import counted
from .html_markup import Markup, element, join_html, table
from .layer_labels import layer_chip, layer_numbers
from .report_contents import Facts

MOST_FUNCTIONS = 40
WIDTH = 100


def _rows(made: Table) -> list[Mapping[str, Any]]:
    return [dict(zip(made.keys, row, strict=True)) for row in made.rows]


def _warnings(made: Table) -> Markup:
    return join_html(element("p", f"{warning}.", class_="dim") for warning in made.warnings)


def drops(facts: Facts) -> Markup:
    """Return the HTML table of drops by reason and place."""
    made = facts.tables["drops"]
    rows = [
        (
            element("span", row["reason"], class_="drop"), element("code", row["function"]),
            row["layer"], f"{row['number']:,}", f"{row['lost']:,}", f"{row['wire']:,}",
            ", ".join(map(str, row["packets"])),
        )
        for row in _rows(made)
    ]  # fmt: skip
    titles = ("Reason", "Place", "Layer", "Drops", "Lost packets", "In captures", "First packets")
    body = (
        table(titles, rows, numbers=(3, 4, 5)) if rows else element("p", "No drops were recorded.")
    )
    return element("section", element("h2", "Drops", id="drops"), body, _warnings(made))


def layers(facts: Facts) -> Markup:
    """Return the HTML table of the times in layers, waits and stages."""
    made = facts.tables["layers"]
    numbers = layer_numbers(facts)
    longest = max((row["total_ns"] for row in _rows(made)), default=0)
    rows = [
        (
            row["kind"], layer_chip(row["layer"], numbers), f"{row['number']:,}",
            duration(row["total_ns"]), _bar(row["total_ns"], longest), duration(row["mean_ns"]),
            duration(row["p50_ns"]), duration(row["p99_ns"]), duration(row["max_ns"]),
        )
        for row in _rows(made)
    ]  # fmt: skip
    titles = ("Kind", "Layer", "Legs", "Total", "", "Mean", "p50", "p99", "Max")
    return element(
        "section",
        element("h2", "Time in layers", id="layers"),
        table(titles, rows, numbers=(2, 3, 5, 6, 7, 8)) if rows else _none(),
        _warnings(made),
    )


def functions(facts: Facts) -> Markup:
    """Return the HTML table of the functions with the longest self times."""
    made = facts.tables["functions"]
    found = sorted(_rows(made), key=lambda row: (-(row["self_ns"] or 0), row["function"]))
    numbers = layer_numbers(facts)
    longest = max((row["self_ns"] or 0 for row in found), default=0)
    rows = [
        (
            element("code", row["function"]), layer_chip(row["layer"], numbers),
            f"{row['number']:,}", microseconds(row["self_ns"]), _bar(row["self_ns"] or 0, longest),
            microseconds(row["total_ns"]), microseconds(row["mean_ns"]),
            microseconds(row["p50_ns"]), microseconds(row["p99_ns"]), microseconds(row["max_ns"]),
        )
        for row in found[:MOST_FUNCTIONS]
    ]  # fmt: skip
    titles = ("Function", "Layer", "Calls", "Self (µs)", "", "Total (µs)", "Mean (µs)", "p50 (µs)",
              "p99 (µs)", "Max (µs)")  # fmt: skip
    rest = len(found) - len(rows)
    text = f"{counted(rest, 'more function')} had less self time."
    more = element("p", text, class_="dim") if rest else None
    return element(
        "section",
        element("h2", "Functions, by self time", id="functions"),
        table(titles, rows, numbers=(2, 3, 5, 6, 7, 8, 9)) if rows else _none(),
        more,
        _warnings(made),
    )


def _none() -> Markup:
    return element("p", "No calls were recorded.")


def _bar(value: int, longest: int) -> Markup:
    width = f"{WIDTH * value / longest:.1f}" if longest else "0"
    bar = element("rect", width=width, height=8, rx=1)
    return element("svg", bar, class_="bar", viewBox=f"0 0 {WIDTH} 8", preserveAspectRatio="none",
                   aria_hidden="true")  # fmt: skip
