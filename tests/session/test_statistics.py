# SPDX-License-Identifier: MIT
"""Statistics of real recordings agree with the paths of their packets."""

from __future__ import annotations

from pathlib import Path

import pytest

from skbviewer.analysis.stats import Chosen, function_rows
from skbviewer.records import resource
from skbviewer.session import Session, import_files


@pytest.mark.parametrize("name", ["handshake", "nat"])
def test_counts_and_totals_are_those_of_the_paths(name: str, tmp_path: Path) -> None:
    out = tmp_path / "s.skbv"
    import_files([resource(f"samples/{name}") / f"{name}.{end}" for end in ("kbl", "pcap")], out)
    session = Session.open(out)
    rows = {row.function: row for row in function_rows(session.statistics(Chosen(everything=True)))}
    calls = dict.fromkeys(rows, 0)
    spent = dict(calls)
    for series in range(1, session.info()["series"] + 1):
        for leg in session.path(series=series).legs:
            for call in leg.calls:
                calls[call.function] += 1
                spent[call.function] += call.dur_ns or 0
    assert {name: row.number for name, row in rows.items()} == calls
    assert {name: row.total_ns for name, row in rows.items()} == spent
    session.close()
