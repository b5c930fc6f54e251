# SPDX-License-Identifier: MIT
"""Values in HTML: whatever is not markup is escaped."""

from __future__ import annotations

from html import unescape

import pytest

from skbviewer.export.report.html_markup import Markup, Span, element, html, printable, table
from skbviewer.export.report.text_cleaning import with_changed_texts
from skbviewer.records import SourceKind, SourceRow
from tests.export.hostile import NAMES


@pytest.mark.parametrize("name", NAMES)
def test_names_are_escaped_in_texts_and_attributes(name: str) -> None:
    made = element("p", name, class_=name)
    body = made.removeprefix('<p class="').removesuffix("</p>")
    attribute, _, text = body.partition('">')
    assert not set(attribute + text) & set("<>\"'")
    assert unescape(attribute) == unescape(text) == printable(name)


def test_markup_is_kept_and_nothing_is_nothing() -> None:
    assert element("b", element("i", "x"), None, 3) == "<b><i>x</i>3</b>"
    assert element("meta", content="a") == '<meta content="a">'
    assert html(Markup("<i>")) == "<i>"


def test_characters_that_html_cannot_hold_are_replaced() -> None:
    assert printable("a\0\x1b\n\x85\ud800\uffffb") == "a" + "\ufffd" * 6 + "b"
    assert printable("é 网 🙂") == "é 网 🙂"


def test_tables() -> None:
    made = table(("a", "b"), [(1, "<"), (Span("wide", 2),)], numbers=(0,), look="list")
    assert '<table class="list">' in made
    assert '<td class="n">1</td><td>&lt;</td>' in made
    assert '<td colspan="2">wide</td>' in made


def test_all_texts_of_rows_are_changed() -> None:
    row = SourceRow(1, "a", SourceKind.PCAP, 2, "b", 3, ("c",), {"hostname": "d"})
    made = with_changed_texts((row, (None, "e")), str.upper)
    assert made == (row._replace(path="A", sha256="B", warnings=("C",), detail={"hostname": "D"}),
                    (None, "E"))  # fmt: skip
    assert made[0].kind is SourceKind.PCAP
