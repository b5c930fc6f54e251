# SPDX-License-Identifier: MIT
"""Whatever is typed is a filter or a FilterError; whatever is a filter can be run."""

from __future__ import annotations

import random

import pytest

from skbviewer.analysis.display_filter import FilterError, complete, parse
from skbviewer.analysis.display_filter.filter_parser import FUNCTIONS, RELATIONS
from skbviewer.analysis.fields.all_fields import FIELDS

from .conftest import Opened, passed

VALUES = (
    "1", "0x10", "80..90", "10.9.0.1", "10.9.0.0/24", "fd09::1", "fd09::/64", "00:11:22:33:44:55",
    "1ms", "2.5", "true", "ip_rcv", '"text"', '"\\x00\\xff"', "00:01", "-1", "99999999999999999999",
    '"2026-11-21 17:50:00"', "vc", "NO_SOCKET", "''", '"("',
)  # fmt: skip
SIGNS = (
    "&&", "||", "^^", "!", "and", "or", "not", "xor", "(", ")", "{", "}", ",", "..", "in", "&",
    "[0]", "[0:2]", "[-2:]", "[1-3,5]", "[:9]", "call(", "any", "all", "[", '"', "=", "§", "\x00",
)  # fmt: skip


def words(chance: random.Random) -> str:
    kinds = (list(FIELDS), list(RELATIONS), VALUES, SIGNS, [f"{name}(" for name in FUNCTIONS])
    picked = chance.choices(kinds, (5, 3, 3, 4, 1), k=chance.randrange(1, 9))
    return chance.choice((" ", "")).join(chance.choice(list(kind)) for kind in picked)


def test_any_words_are_a_filter_or_an_error() -> None:
    chance = random.Random(1)
    valid = 0
    for _ in range(6000):
        text = words(chance)
        try:
            valid += parse(text) is not None
        except FilterError as error:
            assert 0 <= error.position <= len(text) and error.message
            assert error.position + error.length <= len(text)
        found = complete(text, chance.randrange(len(text) + 1))
        assert 0 <= found.begin <= found.end <= len(text)
    assert valid > 100


@pytest.mark.parametrize("relation", sorted(set(RELATIONS.values())))
def test_every_field_runs_with_every_value_it_takes(relation: str, sample: Opened) -> None:
    session, ran = sample("ipv6-and-fragments"), 0
    chance = random.Random(relation)
    for name in FIELDS:
        for value in chance.sample(VALUES, 5):
            part = chance.choice(("", "", "[0:2]", "[-1:]"))
            text = f"{chance.choice(('', 'all '))}{name}{part} {relation} {value}"
            try:
                parse(text)
            except FilterError:
                continue
            found = passed(session, text, kernel_only=True)
            assert set(found) <= set(passed(session, f"{name} or !{name}", kernel_only=True))
            ran += 1
    assert ran > 20
