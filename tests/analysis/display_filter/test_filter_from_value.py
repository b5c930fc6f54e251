# SPDX-License-Identifier: MIT
"""Completion of filters, and filters made from a value that the user points at."""

from __future__ import annotations

import pytest

from skbviewer.analysis.display_filter import (
    MODES,
    combine_filters,
    complete,
    expression_for,
    parse,
)

KNOWN = {"kbl.func": ["ip_rcv", "udp_rcv", "tcp_v4_rcv"], "kbl.comm": ["ssh d", 'a"b']}


def words(text: str, cursor: int | None = None) -> tuple[str, ...]:
    place = len(text) if cursor is None else cursor
    return complete(text, place, lambda field: KNOWN.get(field, [])).words


def test_fields_by_prefix_then_by_any_part() -> None:
    assert words("ip.sr") == ("ip.src",)
    assert words("drop") == ("kbl.drop_reason",)
    assert words("tcp && udp.d") == ("udp.dstport",)
    assert words("!vlan.i") == ("vlan.id",)
    assert words("call(kbl.cal") == ("kbl.caller",)
    assert words("IP.SR") == ("ip.src",)
    assert words("kbl.fu") == ("kbl.func", "kbl.functions")
    assert words("tcp.flags")[:2] == ("tcp.flags", "tcp.flags.ack")


def test_the_word_at_the_cursor_is_replaced() -> None:
    found = complete("udp && ip.s == 1", 11)
    assert (found.begin, found.end, found.words) == (7, 11, ("ip.src",))
    assert not found.values


@pytest.mark.parametrize("operator", ["==", "!=", "eq ", "contains ", "in {", "in {udp_rcv, "])
def test_values_after_a_relation(operator: str) -> None:
    found = complete(f"kbl.func {operator}ip", 99, lambda field: KNOWN[field])
    assert found.words == ("ip_rcv",) and found.values
    assert words(f"kbl.func {operator}") == tuple(KNOWN["kbl.func"])


def test_values_are_quoted_where_they_must_be() -> None:
    assert words("kbl.comm == ssh") == ('"ssh d"',)
    found = complete('kbl.comm == "a', 14, lambda field: KNOWN[field])
    assert found.begin == 12 and found.words == ('"a\\"b"',)
    assert words("kbl.layer == ip") == ('"ip"',)  # ip alone is a field
    assert words("tcp.flags.syn == ") == ("1", "0", "true", "false")


def test_what_comes_after_an_operand() -> None:
    assert words("tcp.port ")[:2] == ("==", "!=")
    assert words("tcp.port == 80 ") == ("and", "or", "xor")
    assert words("tcp.port == 80 a") == ("and",)
    assert "ip.src" in words("tcp and ")
    assert words('kbl.func == "ip_rcv" o') == ("or",)


def test_nothing_inside_other_strings() -> None:
    assert words('frame contains "tc') == ()


@pytest.mark.parametrize(
    ("mode", "text"),
    [
        (MODES[0], "ip.src == 10.0.0.1"),
        (MODES[1], "!(ip.src == 10.0.0.1)"),
        (MODES[2], "(tcp or udp) && (ip.src == 10.0.0.1)"),
        (MODES[3], "(tcp or udp) || (ip.src == 10.0.0.1)"),
        (MODES[4], "(tcp or udp) && !(ip.src == 10.0.0.1)"),
        (MODES[5], "(tcp or udp) || !(ip.src == 10.0.0.1)"),
    ],
)
def test_modes(mode: str, text: str) -> None:
    assert expression_for("ip.src", "10.0.0.1", mode, "tcp or udp") == text
    assert parse(text) is not None
    alone = expression_for("ip.src", "10.0.0.1", mode, " ")
    assert alone == ("!(ip.src == 10.0.0.1)" if "ot Sel" in mode else "ip.src == 10.0.0.1")


def test_values_of_every_kind() -> None:
    assert expression_for("kbl.comm", 'a "b" \\c') == r'kbl.comm == "a \"b\" \\c"'
    assert expression_for("tcp", "✓") == "tcp"
    assert expression_for("tcp.flags.syn", "True") == "tcp.flags.syn == 1"
    assert expression_for("frame.time", "2026-01-01 00:00:00.5") == (
        'frame.time == "2026-01-01 00:00:00.5"'
    )
    with pytest.raises(KeyError):
        expression_for("no.field", "1")


def test_conditions_are_joined_again_and_again() -> None:
    text = combine_filters("tcp", "...and Selected", "(ip.src == 10.0.0.1) && (udp)")
    assert text == "((ip.src == 10.0.0.1) && (udp)) && (tcp)"
