# SPDX-License-Identifier: MIT
"""What the tables of docs/remade.md say, judged by something that shares no code with skbviewer."""

from __future__ import annotations

import pytest

from tests.bench.scanner import VERSIONS
from tests.bench.scanner_oracle import NAMED
from tests.remade import scan
from tests.remade.successors import SUCCESSORS


@pytest.mark.parametrize("version", VERSIONS)
def test_named_functions_are_found_or_gone_with_a_successor(version: str) -> None:
    kinds: dict[str, set[str | None]] = {}
    for row in scan.kept(version).functions:
        kinds.setdefault(row["function"], set()).add(row["kind"])
    for name in NAMED:
        if name in kinds:
            assert kinds[name] != {None}, name
        else:
            assert kinds[SUCCESSORS[name][0]] != {None}, name
