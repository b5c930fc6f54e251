# SPDX-License-Identifier: MIT
"""Each rule is one module, one line of the table and one page."""

from __future__ import annotations

from pathlib import Path

import pytest

from skbviewer.analysis.diagnosis import RULE_TABLE
from skbviewer.analysis.diagnosis.unexplained_time import NAME as REST

ROOT = Path(__file__).resolve().parents[3]
NAMES = [rule.name for rule in RULE_TABLE]


@pytest.fixture(autouse=True, params=[3], ids=["v3"])
def version() -> None:  # replaces the fixture of other tests
    """Rules have no versions."""


def test_each_module_is_one_rule() -> None:
    modules = (ROOT / "skbviewer/analysis/diagnosis/causes").rglob("[a-z]*.py")
    assert len(NAMES) == len(set(NAMES)) == len(list(modules))


def test_each_rule_has_a_page_that_the_index_lists() -> None:
    pages = {page.stem for page in (ROOT / "docs/diagnosis").glob("*.md")}
    index = (ROOT / "docs/diagnosis.md").read_text(encoding="utf-8")
    assert pages == {*NAMES, REST}
    for name in pages:
        page = (ROOT / f"docs/diagnosis/{name}.md").read_text(encoding="utf-8")
        assert f"# {name}\n" in page and f"[{name}](diagnosis/{name}.md)" in index
        assert all(f"**{part}:**" in page for part in ("Found if", "Limits", "Needs", "What to do"))


def test_each_need_says_how_to_record_it() -> None:
    assert all(need.name and need.how for rule in RULE_TABLE for need in rule.needs + rule.absence)
    assert all(rule.needs for rule in RULE_TABLE)
