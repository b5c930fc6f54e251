# SPDX-License-Identifier: MIT
"""Sentences, functions and files are drawn at random, and the same again from the same seed."""

from __future__ import annotations

from .draw import (
    SENTENCES,
    THINGS,
    documents,
    drawn,
    functions,
    messages,
    seed_of,
    sentences,
    without_code,
)


def test_texts_are_cut_into_sentences() -> None:
    text = "One two three four five\nsix.  Too short.\n\n- Of a list, this is the first item."
    found = ["One two three four five six.", "- Of a list, this is the first item."]
    assert list(sentences(text)) == found


def test_documents_are_read_without_tables_and_code() -> None:
    texts = [found.text for found in documents()]
    assert texts and not any(text.startswith("|") or "```" in text for text in texts)


def test_code_that_a_sentence_begins_with_is_named() -> None:
    text = "Run it:\n\n    make x\n    make y\n\nprints all.\n\n```sh\nls\n```\n\nAfter it.\n"
    found = [line for line in without_code(text).splitlines() if line]
    assert found == ["Run it:", "[code] prints all.", "After it."]


def test_queries_of_parsers_are_no_messages() -> None:
    assert not any("(function_definition" in found.text for found in messages())


def test_methods_are_drawn_with_their_class() -> None:
    heads = {found.text.partition("(")[0] for found in functions() if found.place.startswith("skb")}
    assert "Session.close" in heads and "close" not in heads


def test_a_seed_gives_one_draw() -> None:
    for what, count in (("sentences", SENTENCES), ("functions", THINGS), ("files", THINGS)):
        first = drawn(what, 7)
        assert first == drawn(what, 7) != drawn(what, 8)
        assert len(set(first)) == count


def test_a_seed_is_a_hash_and_a_number() -> None:
    assert seed_of("ff+2") == 257
