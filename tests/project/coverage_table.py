# SPDX-License-Identifier: MIT
"""Write docs/developing/coverage.md from coverage's JSON: `make coverage` calls it.

Packages whose tests were not run to their end are named after the file; they get no figures.
"""

from __future__ import annotations

import json
import sys
from collections import defaultdict
from collections.abc import Sequence
from pathlib import Path, PurePosixPath

from .tree import ROOT

PAGE = ROOT / "docs/developing/coverage.md"
PACKAGE_PARTS = 3  # skbviewer/readers/kbl
HEAD = """\
<!-- SPDX-License-Identifier: MIT -->
# Line coverage

This page shows how many lines of the packages with compiled loops are run by these packages' own
tests. `make coverage` writes the page. The tests run the loops in Python (`NUMBA_DISABLE_JIT=1`),
because coverage.py does not see into machine code. Python takes a hundred times as long as machine
code, so `make coverage` runs only the tests of `make check`. The figures are minima: they do not
include what is run only by slow tests (`tests/slow.txt`), by tests of whole recordings
(`tests/e2e`) or by tests of other packages.

Some tests fail without the compiler, because Python's numbers do not wrap around as machine numbers
do. The lines that these failing tests ran are counted, too.

| package | lines | run | % |
| --- | ---: | ---: | ---: |
"""


def rows(report: dict[str, dict[str, dict[str, int]]]) -> list[tuple[str, int, int]]:
    """Return (package, lines, lines that ran) in order of their names."""
    sums: defaultdict[str, list[int]] = defaultdict(lambda: [0, 0])
    for name, file in report.items():
        package = "/".join(PurePosixPath(name).parts[:-1][:PACKAGE_PARTS])
        sums[package][0] += file["summary"]["num_statements"]
        sums[package][1] += file["summary"]["covered_lines"]
    return [(package, all_, run) for package, (all_, run) in sorted(sums.items())]


def table(packages: list[tuple[str, int, int]]) -> str:
    """Return the rows of the table, the sum last."""
    whole = ("all", sum(row[1] for row in packages), sum(row[2] for row in packages))
    return "".join(
        f"| {name} | {lines:,} | {run:,} | {100 * run / max(lines, 1):.1f} |\n"
        for name, lines, run in (*packages, whole)
    )


def unfinished(packages: Sequence[str]) -> str:
    """Return what the page says about packages without figures."""
    names = ", ".join(f"`{name}`" for name in packages)
    why = "because their tests take too long without the compiler"
    return f"\nThese packages were not measured, {why}: {names}.\n"


def main(path: Path, left_out: Sequence[str] = ()) -> None:
    """Write the page from the file that `coverage json` wrote."""
    found = [row for row in rows(json.loads(path.read_text())["files"]) if row[0] not in left_out]
    PAGE.write_text(HEAD + table(found) + (unfinished(left_out) if left_out else ""))


if __name__ == "__main__":
    main(Path(sys.argv[1]), sys.argv[2:])
