# SPDX-License-Identifier: MIT
"""Other verdicts need another number of the rules: sessions are matched again by that alone."""

from __future__ import annotations

from pathlib import Path

import pytest

from skbviewer.matching import RULES

from .rules_golden import NAMES, read, verdicts

TO_DO = (
    "{0}: rules {1} no longer make the verdicts that tests/e2e/rules_golden.json holds for them. "
    "If that is meant, raise RULES in skbviewer/matching/match_rule_numbers.py by one and run "
    "`python -m tests.e2e.rules_golden`; else the change to the rules is a mistake."
)


def test_the_newest_rules_have_verdicts_of_all_samples() -> None:
    golden = read()
    assert list(golden) == [str(number) for number in range(1, RULES + 1)], (
        f"run `python -m tests.e2e.rules_golden` to add those of rules {RULES}"
    )
    assert set(golden[str(RULES)]) == set(NAMES)


@pytest.mark.parametrize("name", NAMES)
def test_verdicts_change_only_with_the_number_of_the_rules(name: str, tmp_path: Path) -> None:
    made, known = verdicts(name, tmp_path), read()[str(RULES)][name]
    assert made == known, TO_DO.format(name, RULES)
