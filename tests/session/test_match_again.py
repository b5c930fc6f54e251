# SPDX-License-Identifier: MIT
"""The numbers that sessions keep are committed, and none is used again for another meaning."""

from __future__ import annotations

from skbviewer.analysis import VERDICTS, reason, series_reason
from skbviewer.matching import KERNEL_ONLY, RULES, UNNUMBERED, LifetimeRung, Rung
from skbviewer.matching.identity.identity_columns import RUNGS

UNKNOWN = "does not know"
# Add lines at the end.  A line that is there never changes or goes: sessions hold its number.
RUNG_NUMBERS = """
NAMELESS -2
CONTESTED -1
BY_KEY 0
BY_PORTS 1
BY_SEQUENCE 2
BY_LENGTH 3
BY_IPV6 4
BY_TIME 5
BY_POINTS 6
BY_SEGMENT 7
LATE 8
UNSURE 9
LACKING 10
TWICE 11
DOUBTED 12
BY_POINTS_ONLY 13
BY_ADDRESS 14
OF_LOG 15
NO_DEVICE 16
UNCHOSEN 17
UNCHOSEN_PACKET 18
"""
LIFETIME_NUMBERS = """
NO_IP -4
SNIFFED -3
NO_HEADER -2
TAKEN -1
NOT_CAPTURED 0
"""


def _lines(numbers: type[Rung] | type[LifetimeRung]) -> set[str]:
    return {f"{name} {int(number)}" for name, number in numbers.__members__.items()}


def test_no_number_changes_its_meaning() -> None:
    assert _lines(Rung) == set(RUNG_NUMBERS.split("\n")) - {""}
    assert _lines(LifetimeRung) == set(LIFETIME_NUMBERS.split("\n")) - {""}


def test_the_numbers_fit_their_column_and_have_one_name_each() -> None:
    for numbers in (Rung, LifetimeRung):
        values = list(map(int, numbers.__members__.values()))
        assert len(values) == len(set(values))
        assert all(-128 <= value < 128 for value in values)  # column `rung` has 8 bits


def test_rules_have_a_number_that_no_unnumbered_session_has() -> None:
    assert RULES > UNNUMBERED


def test_the_ladder_is_climbed_in_the_order_of_its_numbers() -> None:
    """identity_candidates.py and packets_without_ip_id.py count rungs from the key on."""
    assert [int(rung) for rung, _ in RUNGS] == list(range(1, len(RUNGS) + 1))


def test_every_rung_has_a_sentence_of_its_own() -> None:
    """For at least one verdict, in analysis/words/verdict_reasons.py."""
    texts = [reason(verdict, rung) for rung in Rung for verdict in range(len(VERDICTS))]
    for rung in Rung:
        mine = [reason(verdict, rung) for verdict in range(len(VERDICTS))]
        assert any(texts.count(text) == 1 and UNKNOWN not in text for text in mine), rung.name
    lifetimes = [series_reason(KERNEL_ONLY, rung) for rung in LifetimeRung]
    assert len(set(lifetimes)) == len(lifetimes)
    assert not any(UNKNOWN in text for text in lifetimes)


def test_a_number_of_newer_rules_is_no_error() -> None:
    for verdict in range(len(VERDICTS)):
        assert f"{UNKNOWN} the reason (number 99)" in reason(verdict, 99)
    assert f"{UNKNOWN} the reason (number 99)" in series_reason(KERNEL_ONLY, 99)
