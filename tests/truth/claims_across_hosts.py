# SPDX-License-Identifier: MIT
"""skbviewer's pairs of packets across the three guests, from a dataset of their recordings."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from skbviewer.dataset import dataset_paths, session_manifests
from skbviewer.dataset.add_task import add_pair
from skbviewer.dataset.duckdb_connection import connection
from skbviewer.dataset.same_packets_across_sessions import Across, across_sessions
from skbviewer.matching import EXACT
from skbviewer.records import Silent
from tests.truth.judge_hosts import Claim
from tests.truth.running import Recording

Place = tuple[str, str, int]  # host, capture, number from 0


def make_dataset(recordings: dict[str, Recording], out: Path) -> None:
    """Add the recordings of all hosts to the new dataset `out`."""
    dataset_paths.make(out)
    for recording in recordings.values():
        outcome = add_pair(out, (recording.log, *recording.captures.values()))
        assert outcome.added, outcome.error


def _places(dataset: Path) -> dict[tuple[str, int], Place]:
    """Return by session and number where each packet was captured."""
    listed = {each.session: each for each in session_manifests.read_all(dataset)}
    query = "SELECT session, number, source FROM packets ORDER BY session, source, number"
    with connection(dataset) as db:
        rows = db.execute(query).fetchall()
    found: dict[tuple[str, int], Place] = {}
    count: dict[tuple[str, int], int] = {}
    for session, number, source in rows:
        at = count.get((session, source), 0)
        count[session, source] = at + 1
        capture = Path(listed[session].originals[source - 1].path).stem
        found[session, number] = (listed[session].host, capture, at)
    return found


def claims_of(dataset: Path) -> tuple[list[Claim], Across]:
    """Return all exact pairs of captured packets of two hosts, and what they were taken from."""
    across = across_sessions(dataset, Silent())
    places = _places(dataset)
    pairs, number = across.pairs, across.number
    session = np.array([name for name, _ in across.recordings])[across.found.clock]
    exact = (pairs.verdict == EXACT) & (number[pairs.a] > 0) & (number[pairs.b] > 0)
    made = [
        Claim(places[session[a], int(number[a])], places[session[b], int(number[b])], int(low),
              int(high))
        for a, b, low, high in zip(
            pairs.a[exact], pairs.b[exact], pairs.least_ns[exact], pairs.most_ns[exact], strict=True
        )
    ]  # fmt: skip
    return made, across
