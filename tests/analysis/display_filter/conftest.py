# SPDX-License-Identifier: MIT
"""The bundled recordings as open sessions."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from skbviewer.records import resource
from skbviewer.session import Session, import_files

SAMPLES = ("handshake", "drops", "nat", "ipv6-and-fragments", "arp-and-neighbour", "bulk")
Opened = Callable[[str], Session]


@pytest.fixture(scope="session")
def sample(tmp_path_factory: pytest.TempPathFactory) -> Opened:
    """Return the session of a bundled recording, imported once."""
    folder = tmp_path_factory.mktemp("filter")
    made: dict[str, Session] = {}

    def opened(name: str) -> Session:
        if name not in made:
            files = [resource(f"samples/{name}") / f"{name}.{kind}" for kind in ("pcap", "kbl")]
            out = import_files(files, folder / f"{name}.skbv").path
            made[name] = Session.open(out)
        return made[name]

    return opened


def capture_of(session: Session) -> Path:
    return next(Path(row.path) for row in session.sources() if row.kind != "kbl")


def passed(session: Session, text: str, kernel_only: bool = False) -> list[int]:
    """Return the ids that pass a filter."""
    ids = session.packets.select(text, kernel_only=kernel_only)
    return list(range(1, session.packets.count() + 1)) if ids is None else ids.tolist()
