# SPDX-License-Identifier: MIT
"""Packets and path classes that a session stores are those that are found in its calls."""

from __future__ import annotations

import numpy as np
import pytest

from skbviewer.analysis.breakdown import stored_path_classes
from skbviewer.analysis.breakdown.stored_path_classes import facts_of, found_facts
from skbviewer.analysis.stats import STATISTICS, Chosen, statistic_of
from skbviewer.records import resource
from skbviewer.session import Session, import_files

NAMES = ("bulk", "nat")


@pytest.fixture(scope="module", params=NAMES)
def session(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Session:
    """A small session that stores its facts nevertheless."""
    log = resource(f"samples/{request.param}/{request.param}.kbl")
    out = tmp_path_factory.mktemp("facts") / "made.skbv"
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("skbviewer.session.importing.MANY_LEGS", 1)
        import_files([log, log.with_suffix(".pcap")], out)
    return Session.open(out)


def refuse(scope: object) -> None:
    raise AssertionError("facts that are stored were searched")


def test_stored_facts_are_those_that_are_found(
    session: Session, monkeypatch: pytest.MonkeyPatch
) -> None:
    scope = session.stats.scope()
    found = found_facts(scope)
    monkeypatch.setattr(stored_path_classes, "found_facts", refuse)
    stored = facts_of(scope)
    assert len(stored.units.id) > 5
    for name in stored.units._fields:
        assert np.array_equal(getattr(stored.units, name), getattr(found.units, name)), name
    for name in stored.classes._fields:
        assert np.array_equal(getattr(stored.classes, name), getattr(found.classes, name)), name


def test_other_layers_make_stored_facts_invalid(
    session: Session, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Another version of skbviewer may assign functions to other layers."""
    scope = session.stats.scope()
    numbers = facts_of(scope).classes.path.tolist()
    monkeypatch.setattr(scope, "layer_names", ["ip" for _ in scope.function_names])
    monkeypatch.setattr(scope, "fields", None)
    assert facts_of(scope).classes.path.tolist() != numbers


@pytest.mark.parametrize("dense", [0, 16])
def test_rows_are_found_by_their_ids(
    session: Session, dense: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whether the column of ids is read as a whole or in parts."""
    monkeypatch.setattr("skbviewer.analysis.breakdown.timed_packets.DENSE", dense)
    units = facts_of(session.stats.scope()).units
    drawn = np.random.default_rng(3).permutation(np.asarray(units.id, np.int64))
    asked = np.r_[drawn, 10**6, -(10**6)]
    assert units.id[units.rows_of(asked)].tolist() == drawn.tolist()
    assert (units.id[: units.captured] > 0).all() and (units.id[units.captured :] < 0).all()


@pytest.mark.parametrize("ranged", [False, True])
def test_few_packets_have_the_tables_that_they_have_among_all(
    session: Session, ranged: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whether calls are read one by one or column by column, the tables are equal."""
    most = session.packets.count()
    rows = np.r_[-np.arange(1, 9)[::-1], np.arange(3, most, 4)]
    begin = session.stats.begin_ns()
    times = (begin + 1_000_000, begin + 10_000_000_000) if ranged else (None, None)
    tables = []
    for dense in (1, 1 << 40):
        for module in ("scope.chosen_legs_and_calls", "diagnosis.chosen_legs"):
            monkeypatch.setattr(f"skbviewer.analysis.{module}.DENSE", dense)
        scope = session.stats.scope(Chosen(rows, *times))
        assert scope.has_few_calls == (dense == 1)
        tables.append({name: statistic_of(name, scope) for name in STATISTICS})
    assert tables[0] == tables[1]
    assert any(table.rows for table in tables[0].values())
