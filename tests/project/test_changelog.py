# SPDX-License-Identifier: MIT
"""CHANGELOG.md states the numbers of the formats and of the rules that the program has."""

from __future__ import annotations

import re

from skbviewer.matching import RULES
from skbviewer.records.kbl_layout import KBL_VERSION
from skbviewer.store.schema import SCHEMA_VERSION

from .tree import ROOT


def test_the_numbers_of_formats_are_those_of_the_program() -> None:
    text = " ".join((ROOT / "CHANGELOG.md").read_text().split())
    (stated,) = re.findall(r"kernel logs (\d+), sessions (\d+), matching rules (\d+)\.", text)
    assert tuple(map(int, stated)) == (KBL_VERSION, SCHEMA_VERSION, RULES)
