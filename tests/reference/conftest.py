# SPDX-License-Identifier: MIT
"""Sessions of the bundled recordings."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from skbviewer.records import resource
from skbviewer.session import import_files
from tests.lab.samples import SAMPLES

os.environ["QT_QPA_PLATFORM"] = "offscreen"  # before the first QApplication
NAMES = tuple(sample.name for sample in SAMPLES)


def files(name: str) -> tuple[Path, Path]:
    """Return a sample's log and capture."""
    log = resource(f"samples/{name}/{name}.kbl")
    return log, log.with_suffix(".pcap")


@pytest.fixture(scope="package", params=NAMES)
def session(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return each sample's session."""
    out = tmp_path_factory.mktemp("numbers") / f"{request.param}.skbv"
    import_files(list(files(request.param)), out)
    return out


@pytest.fixture(scope="package")
def good(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a session without faults."""
    out = tmp_path_factory.mktemp("good") / "good.skbv"
    import_files(list(files("drops")), out)
    return out
