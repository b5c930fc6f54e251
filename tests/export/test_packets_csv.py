# SPDX-License-Identifier: MIT
"""The packet list as a file: progress, and what is left when it is cancelled."""

from __future__ import annotations

from pathlib import Path

import pytest

from skbviewer.records import Cancelled, resource
from skbviewer.session import Session, import_files


class Impatient:
    """Cancels when packets are written."""

    def __init__(self) -> None:
        self.heard: list[str] = []

    def report(self, what: str, done: int, total: int) -> None:
        self.heard.append(what)
        if what == "writing packets":
            raise Cancelled


@pytest.fixture(scope="module")
def session(tmp_path_factory: pytest.TempPathFactory) -> Session:
    out = tmp_path_factory.mktemp("packets") / "s.skbv"
    import_files([resource("samples/drops/drops.pcap")], out)
    return Session.open(out)


def test_a_cancelled_list_leaves_no_file(session: Session, tmp_path: Path) -> None:
    out, progress = tmp_path / "x.csv", Impatient()
    with pytest.raises(Cancelled):
        session.export.packets_csv("", out, progress)
    assert progress.heard[-1] == "writing packets"
    assert not out.exists()
    session.export.packets_csv("frame.number < 3", out)
    lines = [line for line in out.read_text().splitlines() if not line.startswith("#")]
    assert len(lines) == 3
