# SPDX-License-Identifier: MIT
"""Every number of the bundled recordings is the one that the reference computes."""

from __future__ import annotations

import ast
import json
from pathlib import Path

import pytest

from skbviewer.cli.main import main

from .compare import compare
from .conftest import files
from .seeded import FAULTS, seed
from .slots import Log, read
from .spent import NO_TIME

MADE_ALONE = (
    "layout", "slots", "calls", "lifetimes", "passes", "rows", "spent", "path_output", "path_xml",
    "statistics", "tables", "shown_times", "compare", "packet_times", "event_pairs",
    "conversations", "segments", "lost_drops",
)  # fmt: skip
UNKNOWN = 0.01  # of all packets' time in the kernel, at most


def test_no_cell_differs_and_nearly_all_time_is_explained(session: Path) -> None:
    found = compare(session, files(session.stem)[0])
    assert found.lines == []
    assert found.cells > 10_000
    assert sum(found.ns[name] for name in NO_TIME) <= UNKNOWN * found.ns["kernel"]


def test_the_command_line_says_what_the_session_holds(
    session: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    main(["packets", str(session), "--json"])
    for line in capsys.readouterr().out.splitlines():
        packet = json.loads(line)
        if packet["kernel_ns"] is None:
            continue
        parts = (packet[f"{name}_ns"] for name in ("busy", "wait", "unknown"))
        assert sum(parts) == packet["kernel_ns"]
        assert packet["cpu_ns"] == packet["busy_ns"] + packet["overlap_ns"]


@pytest.mark.parametrize("fault", FAULTS)
def test_a_fault_is_found(fault: str, good: Path, tmp_path: Path) -> None:
    bad = tmp_path / "bad.skbv"
    seed(good, bad, fault)
    assert compare(bad, files("drops")[0]).lines


def test_the_reference_reads_every_call_of_a_log() -> None:
    log = read(files("bulk")[0])
    assert isinstance(log, Log)
    assert len(log.calls) > 14_000
    assert all(call.end is None or call.end >= call.entry for call in log.calls)


@pytest.mark.parametrize("module", MADE_ALONE)
def test_the_reference_shares_no_code_with_what_it_judges(module: str) -> None:
    tree = ast.parse((Path(__file__).parent / f"{module}.py").read_text(encoding="utf-8"))
    named = [node.module for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)]
    named += [a.name for node in ast.walk(tree) if isinstance(node, ast.Import) for a in node.names]
    assert not [name for name in named if name and name.split(".")[0] in ("skbviewer", "numpy")]
