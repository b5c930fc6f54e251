# SPDX-License-Identifier: MIT
"""The table of kernel events has the traits by which code decides."""

from __future__ import annotations

import importlib.util
import re
from pathlib import Path

import pytest

from skbviewer.analysis import event_word
from skbviewer.records.kbl_layout import KblEvent
from skbviewer.records.kernel_events import AT_EXIT, EVENTS, SEEN_AT, Trait, flags, numbers_with

ROOT = Path(__file__).resolve().parents[2]


def names(*traits: Trait) -> set[str]:
    return {KblEvent(number).name for number in numbers_with(*traits)}


def test_the_table_has_a_line_for_each_event_of_the_header() -> None:
    assert [event.number for event in EVENTS] == [*KblEvent, SEEN_AT.number]
    assert [event.word for event in EVENTS[:-1]] == [event.name.lower() for event in KblEvent]
    assert SEEN_AT.number not in set(KblEvent) and event_word(SEEN_AT.number) == "seen"


def test_traits() -> None:
    assert names(Trait.BIRTH) == {"ALLOC", "CLONE", "COPY", "SEGMENT"}
    assert names(Trait.CHILD) == {"CLONE", "COPY", "SEGMENT"}
    assert names(Trait.RELEASE) == {"CONSUME", "DROP"}
    late = {"GRO_MERGE", "COALESCE", "MORPH", "SOCK_ENQUEUE", "NF_HOOK"}
    assert names(Trait.LATE) == late
    assert {KblEvent(n).name for n in AT_EXIT} == late | names(Trait.BIRTH)
    assert names(Trait.ASIDE) == {"TASK", "XMIT", "FOOTPRINT"}
    assert flags(Trait.FREE).nonzero()[0].tolist() == [KblEvent.FREE]


def test_a_new_line_in_the_header_is_enough(tmp_path: Path) -> None:
    """The generator takes number, word, text and traits of an event from its line."""
    path = ROOT / "kmod" / "gen_layout.py"
    spec = importlib.util.spec_from_file_location("gen_layout", path)
    assert spec is not None and spec.loader is not None
    generator = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(generator)
    header = tmp_path / "kbl.h"
    text = (ROOT / "kmod" / "kbl.h").read_text()
    line = "\tKBL_EV_MERGED = 37,\t/* [late merged] data = the skb */\n\tKBL_EV_NF_HOOK"
    header.write_text(text.replace("\tKBL_EV_NF_HOOK", line))
    assert '    (37, "merged", "data = the skb", ("late", "merged")),' in generator.render(header)


def test_no_module_lists_numbers_of_events() -> None:
    """Modules ask the table."""
    listed = re.compile(r"=.*\d.*#.*\benum kbl_event|\bKBL_EV_|\(9, 10, 11")
    for path in (ROOT / "skbviewer").rglob("*.py"):
        if path.name not in ("kbl_layout.py", "kernel_events.py"):
            found = [line for line in path.read_text().splitlines() if listed.search(line)]
            assert not found, path


def test_unknown_trait_is_an_error() -> None:
    with pytest.raises(ValueError):
        Trait("latest")
