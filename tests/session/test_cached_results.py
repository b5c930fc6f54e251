# SPDX-License-Identifier: MIT
"""A table that was made once is returned again, and only for the same packets and times."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from skbviewer.analysis.stats import Chosen
from skbviewer.records import resource
from skbviewer.session import Session, import_files
from skbviewer.session.kernel.cached_results import KeptResults

SIZE = 10


class Made:
    """Counts how often something was made."""

    def __init__(self, budget: int = 1000) -> None:
        self.kept, self.times = KeptResults(budget), 0

    def ask(self, what: str, chosen: Chosen, ids: list[int] | None = None) -> int:
        numbers = None if ids is None else np.array(ids, np.int64)
        return self.kept.get(what, chosen, numbers, self._make, lambda _: SIZE)

    def _make(self) -> int:
        self.times += 1
        return self.times


def test_the_same_question_is_answered_once() -> None:
    made = Made()
    chosen = Chosen(np.array([1, 2]), 5, 9)
    assert made.ask("a", chosen) == made.ask("a", Chosen(np.array([1, 2]), 5, 9)) == 1
    others = (
        chosen._replace(packets=np.array([1, 3])), chosen._replace(packets=None),
        chosen._replace(packets=np.zeros(0, np.int64)), chosen._replace(end_ns=10),
        chosen._replace(everything=True), chosen._replace(interval_ns=1),
    )  # fmt: skip
    answers = [made.ask("a", one) for one in others]
    answers += [made.ask("b", chosen), made.ask("a", chosen, []), made.ask("a", chosen, [1])]
    assert len(set(answers)) == len(answers) and 1 not in answers


def test_the_oldest_results_are_forgotten() -> None:
    made = Made(budget=2 * SIZE)
    chosen = [Chosen(None, at) for at in range(3)]
    first = [made.ask("a", one) for one in chosen]
    assert [made.ask("a", one) for one in chosen[1:]] == first[1:]
    assert made.ask("a", chosen[0]) != first[0]


def test_results_that_are_too_large_are_not_kept() -> None:
    made = Made(budget=SIZE - 1)
    assert made.ask("a", Chosen()) != made.ask("a", Chosen())


@pytest.fixture
def session(tmp_path: Path) -> Iterator[Session]:
    folder = resource("samples/handshake")
    import_files([folder / f"handshake.{kind}" for kind in ("pcap", "kbl")], tmp_path / "s.skbv")
    opened = Session.open(tmp_path / "s.skbv")
    yield opened
    opened.close()


def test_tables_and_diagnoses_of_a_session_are_kept(session: Session) -> None:
    table, made = session.stats.table("layers"), session.stats.diagnosis()
    assert session.stats.table("layers") is table
    assert session.stats.diagnosis(Chosen()) is made
    few = np.array([1])
    assert session.stats.table("layers", few) is not table
    assert session.stats.diagnosis(None, few) is not made
