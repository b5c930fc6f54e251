# SPDX-License-Identifier: MIT
"""Every number of the lab's small recordings is the one that the reference computes.

The recording of all scenarios, 2 M records, takes the reference longer than a test may:
python -m tests.reference compares it.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from skbviewer.session import import_files
from tests.lab.fixture import Lab
from tests.lab.fixture import lab as lab
from tests.reference.compare import Found, compare

pytestmark = pytest.mark.lab


def compared(log: Path, captures: list[Path], folder: Path) -> Found:
    """Import a recording, and compare."""
    out = folder / f"{log.stem}.skbv"
    import_files([log, *captures], out)
    return compare(out, log)


@pytest.mark.parametrize("name", ["handshake", "carry", "counted", "lossy"])
def test_no_cell_of_a_small_recording_differs(lab: Lab, name: str, tmp_path: Path) -> None:
    assert compared(lab.out / f"{name}.kbl", [], tmp_path).lines == []
