# SPDX-License-Identifier: MIT
"""Scan Debian's kernel sources for docs/remade.md: python -m tests.remade.scan.

Downloads both packages linux-source (290 MB) into build/scanner; keeps what the tables show in
tests/remade/recorded/scan-VERSION.json.
"""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any, NamedTuple

from scanner.cached_tables import Run, tables
from scanner.progress import Progress
from scanner.tables.three_tables import Options, Result
from tests.bench.scanner import VERSIONS, source
from tests.bench.scanner_oracle import NAMED

from .kept import FOLDER
from .successors import SUCCESSORS

OUT = Path("build/scanner")
LICENCE = "SPDX-License-Identifier"
COLUMNS = ("function", "file", "line", "kind", "level")
WANTED = {*NAMED, *(name for name, _ in SUCCESSORS.values())}


class Scan(NamedTuple):
    """What is kept of a scan.  functions: rows of COLUMNS of the named functions."""

    package: str
    cpu_s: float
    counts: dict[str, Any]
    functions: list[dict[str, Any]]


def path(version: str) -> Path:
    """Return where the scan of a kernel is kept."""
    return FOLDER / f"scan-{version}.json"


def kept(version: str) -> Scan:
    """Return the scan of a kernel that is kept in the repository."""
    return Scan(**json.loads(path(version).read_text("utf-8"))["scan"])


def named_rows(result: Result) -> list[dict[str, Any]]:
    """Return the named functions and their successors that a tree has, without copies."""
    rows = [row for row in result.functions if row["function"] in WANTED and not row["copy"]]
    return [{name: row[name] for name in COLUMNS} for row in rows]


def scan(version: str, out: Path) -> Scan:
    """Scan a kernel's include and net without a cache, by one process."""
    tree = source(version, out)
    before = os.times()
    result = tables(Run(tree, [], 1, None), Options(), Progress(quiet=True))
    after = os.times()
    deb = max((out / "debs").glob(f"linux-source-{version}_*.deb")).name.split("_")[1]
    spent = sum(after[:4]) - sum(before[:4])
    return Scan(deb, round(spent, 1), result.counts, named_rows(result))


def main() -> None:
    """Scan both kernels, and keep what the tables show."""
    OUT.mkdir(parents=True, exist_ok=True)
    for version in VERSIONS:
        found = scan(version, OUT.resolve())
        text = json.dumps({LICENCE: "MIT", "scan": found._asdict()}, indent=1)
        path(version).write_text(f"{text}\n", "utf-8")
        print(f"{version}: {found.cpu_s} s of CPU time, {len(found.functions)} named functions")


if __name__ == "__main__":
    main()
