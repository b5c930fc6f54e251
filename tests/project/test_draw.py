# SPDX-License-Identifier: MIT
"""Sentences, functions and files are drawn at random, and the same again from the same seed."""

from __future__ import annotations

from .draw import (
    SENTENCES,
    THINGS,
    documents,
    drawn,
    functions,
    is_sentence,
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


def test_what_is_no_sentence_is_not_drawn() -> None:
    codes = (
        "x86 i386 x86_64 amd64 arm64 aarch64 arm alpha",  # architectures
        "auto break case char const continue default do double else for goto if",  # C
        "static inline extern __inline__ __inline const volatile noinline",
        "data = hook | pf << 8 | (verdict + 1) << 16",  # kbl.h
        "skb = 0, data = tgid; KBL_EXT_COMM follows",
        "tcp.port == 80 && ip.ttl < 5 && !(ospf || bgp)",  # display filters
        "hsrp || eigrp || ospf || bgp || cdp || vrrp",
        "UPDATE source SET path = ? for one of them",  # SQL
        "JUNIPER_PIC_PEER ERF_ETH ERF_POS LINUX_LAPD JUNIPER_ETHER",
    )
    assert [text for text in codes if is_sentence(text)] == []
    said = (
        "'|' is not an operator; did you mean '||'?",
        "write the session to OUT; an existing one is rebuilt",
        "the filter is nested too deep",
    )
    assert [text for text in said if not is_sentence(text)] == []
    drawn_texts = [found.text for found in messages()]
    assert not any(" && " in text or "data = " in text for text in drawn_texts)
    assert any("did you mean" in text for text in drawn_texts)


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
