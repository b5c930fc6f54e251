# SPDX-License-Identifier: MIT
"""The table of line coverage sums files by package, and names packages that exist."""

from __future__ import annotations

import re

from .coverage_table import PAGE, rows, table, unfinished
from .tree import ROOT


def test_files_are_summed_by_package() -> None:
    def file(lines: int, run: int) -> dict[str, dict[str, int]]:
        return {"summary": {"num_statements": lines, "covered_lines": run}}

    report = {
        "skbviewer/readers/kbl/a.py": file(10, 9),
        "skbviewer/readers/kbl/deep/b.py": file(10, 1),
        "skbviewer/readers/c.py": file(0, 0),
    }
    made = rows(report)
    assert made == [("skbviewer/readers", 0, 0), ("skbviewer/readers/kbl", 20, 10)]
    assert table(made).splitlines() == [
        "| skbviewer/readers | 0 | 0 | 0.0 |",
        "| skbviewer/readers/kbl | 20 | 10 | 50.0 |",
        "| all | 20 | 10 | 50.0 |",
    ]


def test_packages_without_figures_are_named() -> None:
    assert unfinished(["skbviewer/a", "skbviewer/b"]).endswith(": `skbviewer/a`, `skbviewer/b`.\n")


def test_the_page_names_packages_that_exist() -> None:
    packages = re.findall(r"^\| (skbviewer/\S+) \|", PAGE.read_text(), re.MULTILINE)
    assert not [name for name in packages if not (ROOT / name).is_dir()]
