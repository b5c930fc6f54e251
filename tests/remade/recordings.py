# SPDX-License-Identifier: MIT
"""The bundled recordings as sessions, each imported once per run."""

from __future__ import annotations

import functools
import tempfile
from pathlib import Path

from skbviewer.analysis.stats import Chosen, Table, statistic_of
from skbviewer.session import Session
from tests.e2e.samples import open_sample


@functools.cache
def _folder() -> tempfile.TemporaryDirectory[str]:
    return tempfile.TemporaryDirectory(prefix="remade")


@functools.cache
def sample(name: str) -> Session:
    """Return the session of the bundled recording `name`."""
    return open_sample(name, Path(_folder().name))[0]


def statistic(recording: str, name: str, packets: str = "") -> Table:
    """Return the statistic `name` of a bundled recording.

    `packets` is the display filter of its packets; "" means all packets, and lifetimes without one.
    """
    session = sample(recording)
    ids = session.packets.select(packets) if packets else None
    chosen = Chosen(None if ids is None else ids[ids > 0])
    return statistic_of(name, session.stats.scope(chosen))
