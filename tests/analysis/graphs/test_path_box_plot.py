# SPDX-License-Identifier: MIT
"""Boxes of path classes: their numbers are those of `stats paths`, their points are packets."""

from __future__ import annotations

import numpy as np
import pytest

from skbviewer.analysis.graphs.path_box_plot import FACTOR, MAX_BOXES, PERCENTS, POINTS, PathBoxes
from skbviewer.analysis.graphs.path_box_plot import path_boxes as boxes_of
from skbviewer.analysis.stats import Chosen
from skbviewer.records import resource
from skbviewer.session import Session, import_files


@pytest.fixture(autouse=True)
def version() -> None:
    """Override the two versions: no log is written here, so one run is enough."""


@pytest.fixture(scope="module")
def session(tmp_path_factory: pytest.TempPathFactory) -> Session:
    capture = resource("samples/bulk") / "bulk.pcap"
    out = tmp_path_factory.mktemp("paths") / "bulk.skbv"
    return Session.open(import_files([capture, capture.with_suffix(".kbl")], out).path)


@pytest.fixture(scope="module")
def boxes(session: Session) -> PathBoxes:
    made = session.graphs.paths(Chosen())
    assert made is not None
    return made


def times(session: Session) -> dict[int, int]:
    """Time in kernel of each row: n, or -n for K<n>."""
    listed = session.packets
    packets = listed.numbered(1, listed.count())
    found = {row.number: row.kernel_ns for row in packets if row.kernel_ns is not None}
    ids = -np.arange(1, listed.kernel_only_count() + 1)
    alone = zip(ids.tolist(), listed.rows(ids), strict=True)
    return found | {row: one.kernel_ns for row, one in alone if one.kernel_ns is not None}


def test_numbers_are_those_of_the_table(session: Session, boxes: PathBoxes) -> None:
    table = session.stats.table("paths")
    rows = [dict(zip(table.columns, row, strict=True)) for row in table.rows]
    assert boxes.total == sum(row["count"] for row in rows)
    own = [at for at, path in enumerate(boxes.path) if path]
    assert len(own) == min(MAX_BOXES, len(rows)) and own == list(range(len(own)))
    for at, row in zip(own, rows, strict=False):
        known = (row["path"], row["name"], row["legs"], row["count"], row["p50_ns"], row["p99_ns"])
        ranks = boxes.ranks_ns[at]
        made = (boxes.path[at], boxes.name[at], boxes.legs[at], int(boxes.number[at]))
        assert (*made, int(ranks[PERCENTS.index(50)]), int(ranks[PERCENTS.index(99)])) == known
        assert int(ranks[-1]) == row["max_ns"]
    assert boxes.path[len(own) :] == ((0,) if len(rows) > MAX_BOXES else ())


def test_a_name_filters_for_the_packets_of_its_box(session: Session, boxes: PathBoxes) -> None:
    known = times(session)
    for at, name in enumerate(boxes.name[:5]):
        rows = session.packets.select(f'kbl.path == "{name}"')
        assert rows is not None and len(rows) == boxes.number[at]
        mine = sorted(known[row] for row in rows.tolist())
        ranks = [mine[max(-(-len(mine) * percent // 100) - 1, 0)] for percent in PERCENTS]
        assert ranks == boxes.ranks_ns[at].tolist()


def test_points_are_the_slowest_packets(session: Session, boxes: PathBoxes) -> None:
    known = times(session)
    assert len(boxes.point_row)
    for row, ns, at in zip(boxes.point_row, boxes.point_ns, boxes.point_class, strict=True):
        assert known[int(row)] == ns
        _, median, p90, _, most = boxes.ranks_ns[at].tolist()
        assert ns > p90 and FACTOR * median <= ns <= most
    by_class = np.bincount(boxes.point_class, minlength=len(boxes.number))
    assert by_class.tolist() == np.minimum(boxes.outliers, POINTS).tolist()


def test_a_choice_of_packets(session: Session, boxes: PathBoxes) -> None:
    rows = session.packets.select(f'kbl.path == "{boxes.name[1]}"')
    made = boxes_of(session.stats.scope(Chosen(rows)))
    assert made is not None
    assert (made.name, made.number.tolist()) == ((boxes.name[1],), [boxes.number[1]])
    assert session.graphs.paths(Chosen(np.zeros(0, np.int64))) is None
