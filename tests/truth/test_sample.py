# SPDX-License-Identifier: MIT
"""A fixed sample of `make truth`: recordings of hostile traffic with their witness, kept here.

A witness in the guest's kernel decides; the judge imports nothing of skbviewer.
"""

from __future__ import annotations

import random
import shutil
import sqlite3
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.kept_archives import unpack

from .judge import RIGHT, WRONG
from .judge_session import connect, read_matches, sources
from .missed_hits import without_hits
from .running import Recording, Truths, judged, read_recording, treat
from .session_maker import SessionMaker
from .treatments import without_chunks

TOP = Path(__file__).resolve().parents[2]
SAMPLES = Path(__file__).parent / "samples"
# By sample the share of its packets that are exact as they were recorded, at least.
EXACT = {
    "6.1-bonding-broadcast": 0.99,
    "6.12-fragments-duplicate": 0.95,
    "6.12-netem-same-headers": 0.9,
}
LOSSES = [(1, 0), (3, 1), (10, 2), (30, 3)]  # % of the log's chunks, seed
MISSES = [(1, 0, True), (1, 0, False), (30, 0, False)]  # % of hits, seed, whether the log says when
SWAPPED = 1000  # matches, in all samples

pytestmark = pytest.mark.parametrize("recording", sorted(EXACT), indirect=True)


@pytest.fixture(scope="module")
def maker() -> Iterator[SessionMaker]:
    with SessionMaker(TOP) as running:
        yield running


@pytest.fixture(scope="module")
def recording(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Recording:
    """A sample, unpacked as it was recorded: by kernel and scenario."""
    kernel, _, scenario = request.param.partition("-")
    folder = tmp_path_factory.mktemp("truth") / kernel / scenario
    unpack(SAMPLES / f"{request.param}.tar.xz", folder)
    return read_recording(folder)


def plain(recording: Recording) -> dict[tuple[str, str], Path]:
    return {(name, "none"): path for name, path in recording.captures.items()}


def wrong(truths: list[Truths]) -> list[str]:
    return [
        f"{truth.capture}, {truth.seen.treatment}: packet {one.packet + 1}: {one.reason}"
        for truth in truths
        for one in truth.seen.opinions
        if one.truth == WRONG
    ]


def test_no_exact_match_is_wrong(recording: Recording, maker: SessionMaker, tmp_path: Path) -> None:
    files = treat(recording, tmp_path)
    assert len(files) > 25 * len(recording.captures)
    maker.make(tmp_path / "a.skbv", [recording.log, *files.values()])
    truths = list(judged(recording, tmp_path / "a.skbv", files))
    assert wrong(truths) == []
    whole = [one for t in truths if t.seen.treatment == "none" for one in t.seen.opinions]
    exact = sum(one.verdict == "exact" for one in whole) / len(whole)
    assert exact >= EXACT[f"{recording.kernel}-{recording.scenario}"]
    known = sum(one.truth == RIGHT for one in whole)
    assert known >= 0.99 * exact * len(whole)


def test_no_exact_match_is_wrong_where_the_log_lacks_chunks(
    recording: Recording, maker: SessionMaker, tmp_path: Path
) -> None:
    exact = 0
    for share, seed in LOSSES:
        log, session = tmp_path / "less.kbl", tmp_path / f"{share}.skbv"
        without_chunks(recording.log, log, share / 100, seed)
        maker.make(session, [log, *recording.captures.values()])
        truths = list(judged(recording, session, plain(recording)))
        assert wrong(truths) == []
        exact += sum(one.truth == RIGHT for t in truths for one in t.seen.opinions)
    assert exact > 0


def test_no_exact_match_is_wrong_where_probes_missed_hits(
    recording: Recording, maker: SessionMaker, tmp_path: Path
) -> None:
    exact = 0
    for share, seed, dated in MISSES:
        log, session = tmp_path / "less.kbl", tmp_path / f"{share}-{dated}.skbv"
        without_hits(recording.log, log, share / 100, seed, dated)
        maker.make(session, [log, *recording.captures.values()])
        truths = list(judged(recording, session, plain(recording)))
        assert wrong(truths) == []
        exact += sum(one.truth == RIGHT for t in truths for one in t.seen.opinions)
        if not dated:  # so a packet without a lifetime may be one of those that are missing
            unexplained = "SELECT count(*) FROM packet WHERE verdict = 2 AND rung = 0"
            assert connect(session).execute(unexplained).fetchone() == (0,)
    assert exact > 0


def test_the_judge_finds_matches_that_are_swapped(
    recording: Recording, maker: SessionMaker, tmp_path: Path
) -> None:
    session, swapped = tmp_path / "a.skbv", tmp_path / "swapped.skbv"
    maker.make(session, [recording.log, *recording.captures.values()])
    shutil.copy(session, swapped)
    pairs = swap(swapped, SWAPPED // len(EXACT))
    found = list(judged(recording, swapped, plain(recording)))
    said = {(t.capture, o.packet) for t in found for o in t.seen.opinions if o.truth == WRONG}
    before = {
        (t.capture, o.packet)
        for t in judged(recording, session, plain(recording))
        for o in t.seen.opinions
        if o.truth == RIGHT
    }
    assert len(pairs & before) > 0.9 * len(pairs) > 0.3 * SWAPPED / len(EXACT)
    assert pairs & before <= said


def swap(path: Path, count: int) -> set[tuple[str, int]]:
    """Swap the lifetimes of exact packets in pairs; returns these by capture and number."""
    rng, done = random.Random(1), set[tuple[str, int]]()
    db = sqlite3.connect(path)
    for capture in sources(connect(path)):
        if capture.kind == "kbl":
            continue
        known = [m for m in read_matches(connect(path), capture) if m.verdict == "exact"]
        rng.shuffle(known)
        for one, other in zip(known[::2], known[1::2], strict=False):
            if set(one.series) & set(other.series) or len(done) >= count:
                continue
            a, b = one.packet + capture.first, other.packet + capture.first
            for old, new in ((a, -a), (b, a), (-a, b)):
                db.execute("UPDATE match SET packet = ? WHERE packet = ?", (new, old))
            done |= {(capture.path.stem, one.packet), (capture.path.stem, other.packet)}
    db.commit()
    db.close()
    return done
