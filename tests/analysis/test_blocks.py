# SPDX-License-Identifier: MIT
"""The result of reading a recording in blocks does not depend on the size of the blocks."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from skbviewer import readers
from skbviewer.analysis.calls.call_building import build as build_calls
from skbviewer.analysis.calls.call_table import CALL_DTYPE
from skbviewer.analysis.calls.probe_cost_per_record import Costs
from skbviewer.analysis.ingest.event_rows import build as build_events
from skbviewer.analysis.ingest.leg_summary import owners
from skbviewer.analysis.ingest.skb_lifetime_summary import series_summary
from skbviewer.matching import Nesting, build_legs, build_series, join_sockets
from skbviewer.matching.arrays.array_blocks import blocks
from skbviewer.records import Calibration, KernelLog, Silent, resource, scratch_memory, scratch_of

KNOWN = Calibration(empty=30, nested=70, skb_empty=40, skb_nested=90)


def made(log: KernelLog) -> dict[str, Any]:
    """Return everything that is computed for single records, by name."""
    series = build_series(log)
    legs = build_legs(log, series)
    nesting = Nesting(log.records)
    joined = join_sockets(log, series, legs, nesting)
    calls = build_calls(log, series, legs, nesting, joined)
    events = build_events(log, series, legs, nesting, calls)
    summary = series_summary(log.records, series, legs)
    found: dict[str, Any] = {f"call {name}": calls[name] for name in CALL_DTYPE.names or ()}
    found |= {
        f"series {name}": getattr(series, name) for name in ("of", "parent", "tap", "owner_calls")
    }
    found["met"] = series.met[:]
    found |= {f"summary {name}": column for name, column in summary.columns(slice(None)).items()}
    found |= {name: getattr(summary, name) for name in ("end_ns", "skb", "ordinal", "identity")}
    return found | {
        "legs": legs.rows[:],
        "leg of": legs.of,
        "last": legs.last_ns,
        "enclosed by": nesting.parent,
        "inside": nesting.sums_inside(Costs(log.records, nesting, KNOWN).events),
        "events": events,
        "owners": owners(calls, len(legs.rows)),
    }


@pytest.mark.parametrize("size", [7, 1000])
@pytest.mark.parametrize("name", ["drops", "nat"])
def test_blocks_of_any_size_give_the_same(
    name: str, size: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    log = readers.read(resource(f"samples/{name}/{name}.kbl"), Silent())
    assert isinstance(log, KernelLog)
    assert len(log.records) > 3000
    whole = made(log)
    monkeypatch.setattr(blocks, "__defaults__", (size,))
    parts = made(log)
    assert whole.keys() == parts.keys()
    assert [n for n, values in whole.items() if not np.array_equal(values, parts[n])] == []


@pytest.mark.parametrize("name", ["drops", "nat"])
def test_what_lies_in_files_is_the_same(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = resource(f"samples/{name}/{name}.kbl")
    log = readers.read(path, Silent())
    monkeypatch.setattr(scratch_memory, "LARGE_BYTES", 1)
    monkeypatch.setattr(scratch_memory, "SMALLEST_FILE", 1)
    monkeypatch.setattr(scratch_memory, "KEPT", 1)
    monkeypatch.setattr(blocks, "__defaults__", (1000,))
    filed = readers.read(path, Silent(), tmp_path)
    assert isinstance(log, KernelLog) and isinstance(filed, KernelLog)
    assert scratch_of(filed.records).in_files and not scratch_of(log.records).in_files
    whole, parts = made(log), made(filed)
    assert [n for n, values in whole.items() if not np.array_equal(values, parts[n])] == []
