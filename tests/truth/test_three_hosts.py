# SPDX-License-Identifier: MIT
"""Packets of three guests in a row, recorded by python -m tests.truth.three_hosts, are joined."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

import numpy as np
import pytest

from skbviewer.dataset.host_pairs import host_pairs
from skbviewer.dataset.same_packets_across_sessions import Across
from skbviewer.records import Silent
from tests.kept_archives import unpack

from .claims_across_hosts import claims_of, make_dataset
from .judge_hosts import HOSTS, Claim, judge, possible, truth_of
from .running import Recording, read_recording
from .shared_clocks import line, seen

SAMPLE = Path(__file__).parent / "samples/6.12-hosts.tar.xz"
MS = 1_000_000


class Judged(NamedTuple):
    """The recordings by host, and what the product says."""

    dataset: Path
    recordings: dict[str, Recording]
    claims: list[Claim]
    across: Across


@pytest.fixture(scope="module")
def judged(tmp_path_factory: pytest.TempPathFactory) -> Judged:
    out = tmp_path_factory.mktemp("hosts")
    unpack(SAMPLE, out)
    recordings = {host: read_recording(out / host) for host in HOSTS}
    make_dataset(recordings, out / "dataset")
    return Judged(out / "dataset", recordings, *claims_of(out / "dataset"))


def test_no_join_is_wrong(judged: Judged) -> None:
    found = judge(judged.recordings, judged.claims)
    assert found.judged > 1400
    assert found.wrong == 0


def test_nearly_all_packets_with_a_unique_identity_are_joined(judged: Judged) -> None:
    wanted = possible(judged.recordings)
    truths = {
        (host, capture): truth_of(recording, capture)
        for host, recording in judged.recordings.items()
        for capture in recording.captures
    }
    made = set()
    for one, other, *_ in judged.claims:
        hosts = sorted((one[0], other[0]), key=HOSTS.index)
        made.add((*hosts, truths[one[:2]].header[one[2]]))
    assert len(wanted & made) >= 0.95 * len(wanted)


def test_each_interval_of_transit_time_holds_the_truth(judged: Judged) -> None:
    found = judge(judged.recordings, judged.claims)
    assert found.timed >= 0.95 * found.judged
    assert found.outside == 0
    assert np.median(found.widths_ns) < np.median(found.claimed_ns) / 4  # the judge sees more


def test_the_clocks_of_each_pair_of_hosts_are_bounded_right(judged: Judged) -> None:
    clocks = {host: recording.folder / "clocks" for host, recording in judged.recordings.items()}
    rows = host_pairs(judged.dataset, Silent())
    found = [dict(zip(rows.columns, row, strict=True)) for row in rows.rows]
    assert {frozenset((row["host_a"], row["host_b"])) for row in found} == {
        frozenset("ar"), frozenset("br"), frozenset("ab")
    }  # fmt: skip
    for row in found:
        a, b = str(row["host_a"]), str(row["host_b"])
        between = line(seen(clocks[b], HOSTS.index(a)), seen(clocks[a], HOSTS.index(b)))
        least, most = (each[0] - row["at_ns"] for each in between.between(np.array([row["at_ns"]])))
        assert least <= most < least + MS
        assert row["least_ns"] <= most and least <= row["most_ns"]
