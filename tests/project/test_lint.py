# SPDX-License-Identifier: MIT
"""The linters find nothing."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from .tree import ROOT

BIN = Path(sys.executable).parent
LINTERS = {
    "ruff": ["ruff", "check", "--no-cache", "."],
    "ruff format": ["ruff", "format", "--no-cache", "--check", "."],
    "mypy": ["mypy"],
    "import-linter": ["lint-imports", "--no-cache"],
}


@pytest.mark.timeout(900)  # mypy begins with nothing it knows, and guests run beside it
@pytest.mark.parametrize("linter", LINTERS)
def test_finds_nothing(linter: str) -> None:
    program, *arguments = LINTERS[linter]
    done = subprocess.run(
        [str(BIN / program), *arguments], cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, f"{linter}:\n{done.stdout}{done.stderr}"
