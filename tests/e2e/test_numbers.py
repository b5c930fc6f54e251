# SPDX-License-Identifier: MIT
"""Every number of the lab's recordings is the one that the reference computes."""

from __future__ import annotations

from pathlib import Path

import pytest

from skbviewer.session import import_files
from tests.lab.fixture import Lab
from tests.lab.fixture import lab as lab
from tests.reference.compare import Found, compare
from tests.reference.spent import NO_TIME

from .test_scenarios import CAPTURES

pytestmark = pytest.mark.lab

UNKNOWN = 0.01  # of all packets' time in the kernel, at most, where nothing is lost


def compared(log: Path, captures: list[Path], folder: Path) -> Found:
    """Import a recording, and compare."""
    out = folder / f"{log.stem}.skbv"
    import_files([log, *captures], out)
    return compare(out, log)


@pytest.mark.parametrize("name", ["handshake", "carry", "counted", "lossy"])
def test_no_cell_of_a_small_recording_differs(lab: Lab, name: str, tmp_path: Path) -> None:
    assert compared(lab.out / f"{name}.kbl", [], tmp_path).lines == []


def test_no_cell_of_the_scenarios_differs(lab: Lab, tmp_path: Path) -> None:
    captures = [lab.out / f"{name}.pcap" for name in CAPTURES]
    found = compared(lab.out / "lab.kbl", captures, tmp_path)
    assert found.lines == []
    assert sum(found.ns[name] for name in NO_TIME) <= UNKNOWN * found.ns["kernel"]
