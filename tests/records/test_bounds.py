# SPDX-License-Identifier: MIT
"""`make test-bounds`: in its environment each kind of compiled function checks its indices."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
MODULE = """
from skbviewer.records.compiled import allocation_free, compiled
@compiled
def plain(values, row):
    return values[row]
@allocation_free
def lean(values, row):
    return values[row]
@allocation_free
def written(values, row):
    values[row] = 1
    return 1
@compiled
def inlined(values, row):
    return lean(values, row) + 0
@compiled
def inlined_write(values, row):
    return written(values, row) + 0
"""
# The row beyond the end belongs to a longer array, so reading it without a check does no harm.
RUN = """
import sys, numpy, overruns
for kind in sys.argv[2:]:
    values = numpy.zeros(8, numpy.int64)[:4]
    try:
        print(getattr(overruns, kind)(values, int(sys.argv[1])) < 2)
    except IndexError as error:
        print(error)
"""
KINDS = ("plain", "lean", "written", "inlined", "inlined_write")


def environment() -> dict[str, str]:
    """Return the variables that `make test-bounds` sets."""
    line = re.search(r"^BOUNDS := (.+)$", (ROOT / "Makefile").read_text(), re.MULTILINE)
    assert line
    return dict(word.split("=", 1) for word in line[1].split())


def _run(folder: Path, row: int, **env: str) -> list[str]:
    done = subprocess.run(
        [sys.executable, "-c", RUN, str(row), *KINDS],
        env={**os.environ, **env, "PYTHONPATH": f"{folder}:{ROOT}"},
        capture_output=True,
        text=True,
        check=True,
    )
    return done.stdout.splitlines()


def test_an_overrun_fails_in_each_kind(tmp_path: Path) -> None:
    (tmp_path / "overruns.py").write_text(MODULE)
    # Its code is stored beside the source, where the next runs must not find it.
    assert _run(tmp_path, 4, NUMBA_BOUNDSCHECK="", NUMBA_CACHE_DIR="") == ["True"] * len(KINDS)
    checked = environment() | {"NUMBA_CACHE_DIR": str(tmp_path / "cache")}
    assert _run(tmp_path, 3, **checked) == ["True"] * len(KINDS)
    assert _run(tmp_path, 4, **checked) == ["index is out of bounds"] * len(KINDS)


def test_the_run_has_a_cache_of_its_own() -> None:
    variables = environment()
    assert variables["NUMBA_BOUNDSCHECK"] == "1"
    assert variables["NUMBA_CACHE_DIR"].startswith("build/")
