# SPDX-License-Identifier: MIT
"""The grammar: what each operator means to the parser, and where errors are."""

from __future__ import annotations

import re

import pytest

from skbviewer.analysis.display_filter import FilterError, lists_packets, parse
from skbviewer.analysis.display_filter import checked_filter as p
from skbviewer.analysis.display_filter.filter_parser import MAX_DEPTH
from skbviewer.analysis.display_filter.literals import Range


def relation(text: str) -> p.Relation:
    plan = parse(text)
    assert isinstance(plan, p.Relation)
    return plan


@pytest.mark.parametrize(
    ("written", "operator"),
    [
        ("==", "=="), ("eq", "=="), ("any_eq", "=="), ("!=", "!="), ("ne", "!="), ("all_ne", "!="),
        ("===", "==="), ("all_eq", "==="), ("!==", "!=="), ("any_ne", "!=="),
        (">", ">"), ("gt", ">"), ("<", "<"), ("lt", "<"), (">=", ">="), ("ge", ">="),
        ("<=", "<="), ("le", "<="), ("EQ", "=="),
    ],
)  # fmt: skip
def test_relations(written: str, operator: str) -> None:
    plan = relation(f"tcp.port {written} 80")
    assert plan.operator == operator and plan.of.field.name == "tcp.port"
    assert plan.right == Range(80, 80)


@pytest.mark.parametrize("written", ["contains", "matches", "~"])
def test_text_relations(written: str) -> None:
    plan = relation(f'kbl.func {written} "ip_"')
    assert plan.operator == ("contains" if written == "contains" else "matches")
    if plan.operator == "matches":
        assert plan.right == re.compile("ip_", re.IGNORECASE)


@pytest.mark.parametrize(
    ("text", "shape"),
    [
        ("tcp and udp", "(tcp and udp)"),
        ("tcp && udp || arp", "((tcp and udp) or arp)"),
        ("tcp || udp && arp", "(tcp or (udp and arp))"),
        ("tcp ^^ udp || arp", "((tcp xor udp) or arp)"),
        ("tcp xor udp and arp", "(tcp xor (udp and arp))"),
        ("!tcp and udp", "(!tcp and udp)"),
        ("not (tcp or udp)", "!(tcp or udp)"),
        ("! ! tcp", "!!tcp"),
        ("call(kbl.func or kbl.dur) and ip", "(call((kbl.func or kbl.dur)) and ip)"),
    ],
)
def test_precedence(text: str, shape: str) -> None:
    assert _shape(parse(text)) == shape


def _shape(plan: p.Plan | None) -> str:
    match plan:
        case p.Joined():
            return f"({_shape(plan.left)} {plan.operator} {_shape(plan.right)})"
        case p.Negation():
            return f"!{_shape(plan.of)}"
        case p.OneCall():
            return f"call({_shape(plan.of)})"
        case p.Present():
            return plan.of.field.name
    raise AssertionError(plan)


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("tcp.port == 0x50", 80),
        ("tcp.port == 0120", 80),
        ("eth.src == 00:11:22:33:44:55", 0x001122334455),
        ("eth.src == 00-11-22-33-44-55", 0x001122334455),
        ("eth.src == 0011.2233.4455", 0x001122334455),
        ("ip.src == 10.9.0.1", 0x0A090001),
        ("ipv6.src == fd09::1", 0xFD09 << 112 | 1),
        ("kbl.dur > 1ms", 10**6),
        ("kbl.dur > 20us", 20_000),
        ("kbl.dur > 7ns", 7),
        ("kbl.dur > 1.5", 1_500_000_000),
        ("frame.time_relative > 2s", 2 * 10**9),
        ("frame.time_epoch > 1700000000.123456789", 1700000000123456789),
        ('frame.time > "2023-11-14 22:13:20.5"', 1700000000500000000),
        ('frame.time > "2023-11-14T23:13:20+01:00"', 1700000000000000000),
        ("tcp.flags.syn == true", 1),
        ("kbl.skb == 0xffff888100000000", 0xFFFF888100000000),
    ],
)
def test_values(text: str, value: int) -> None:
    assert relation(text).right == Range(value, value)


def test_networks_are_ranges() -> None:
    assert relation("ip.src == 10.9.0.7/24").right == Range(0x0A090000, 0x0A0900FF)
    assert relation("ipv6.src == fd09::/64").right == Range(
        0xFD09 << 112, (0xFD09 << 112) + (1 << 64) - 1
    )


def test_sets() -> None:
    plan = parse("tcp.port in {80, 443, 1000..2000}")
    assert isinstance(plan, p.Member)
    assert plan.values == (Range(80, 80), Range(443, 443), Range(1000, 2000))
    negated = parse("tcp.port not in {80}")
    assert isinstance(negated, p.Negation) and isinstance(negated.of, p.Member)
    words = parse('kbl.func in {ip_rcv, "udp_rcv"}')
    assert isinstance(words, p.Member) and words.values == ("ip_rcv", "udp_rcv")


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        ("eth[0]", ((0, 1),)), ("eth[0:2]", ((0, 2),)), ("eth[1-2]", ((1, 3),)),
        ("eth[:4]", ((0, 4),)), ("eth[4:]", ((4, None),)), ("eth[-4:2]", ((-4, -2),)),
        ("eth[-2:]", ((-2, None),)), ("eth[0,2:3]", ((0, 1), (2, 5))), ("eth[-1]", ((-1, None),)),
    ],
)  # fmt: skip
def test_slices(text: str, parts: object) -> None:
    plan = parse(text)
    assert isinstance(plan, p.Present) and plan.of.parts == parts


def test_bytes() -> None:
    assert relation("eth[0:2] == 00:ff").right == b"\x00\xff"
    assert relation("tcp[13] == 12").right == b"\x12"  # hexadecimal, as in Wireshark
    assert relation('frame contains "G\\x45\\105T"').right == b"GEET"
    assert relation('frame contains "über"').right == "über".encode()
    assert relation("udp.payload contains 0x0102").right == b"\x01\x02"
    assert relation("tcp contains GET").right == b"GET"


def test_masks_functions_and_quantifiers() -> None:
    plan = parse("tcp.flags & 0x12")
    assert isinstance(plan, p.Present) and plan.of.mask == 0x12
    assert relation("tcp.flags & 0x12 == 0x10").of.mask == 0x12
    assert relation("len(kbl.func) > 5").of.function == "len"
    assert relation("all tcp.port > 1000").of.every
    assert not relation("any tcp.port > 1000").of.every


def test_a_value_may_come_first_and_chains_are_joined() -> None:
    plan = relation("80 < tcp.port")
    assert plan.operator == ">" and plan.right == Range(80, 80)
    chain = parse("60 <= frame.len < 100")
    assert isinstance(chain, p.Joined) and chain.operator == "and"


def test_two_fields() -> None:
    right = relation("kbl.dur > kbl.self").right
    assert isinstance(right, p.Operand) and right.field.name == "kbl.self"
    assert relation("kbl.func == tcp").right == "tcp"  # a word, though it is a field elsewhere


def test_blank_is_everything() -> None:
    assert parse("") is None and parse("  \t") is None


@pytest.mark.parametrize(
    ("text", "place", "message"),
    [
        ("ip.scr == 1.2.3.4", "ip.scr", "did you mean ip.src?"),
        ("tcp.port == 99999", "99999", "not from 0 to 65535"),
        ("ip.src contains a", "ip.src contains a", "ip.src is an IPv4 address: 'contains'"),
        ("frame.len matches a", "frame.len matches a", "is an unsigned number: 'matches'"),
        ("tcp.port == http2", "http2", "is not an unsigned number"),
        ('tcp.port == "80"', '"80"', "is not an unsigned number"),
        ("ip.src == 1.2.3", "1.2.3", "is not an IPv4 address"),
        ("ip.src == fd09::1", "fd09::1", "is not an IPv4 address"),
        ("ip.src == 1.2.3.4/33", "1.2.3.4/33", "is not an IPv4 address"),
        ("eth.src == 00:11", "00:11", "is not a hardware address"),
        ("kbl.dur > 1min", "1min", "is not a duration"),
        ("frame.time > yesterday", "yesterday", "is not a date and time"),
        ("tcp.flags.syn == 2", "2", "neither true nor false"),
        ("kbl.layer == netfiler", "netfiler", "did you mean netfilter?"),
        ("kbl.verdict == sure", "sure", "exact, ambiguous, wire-only, sampled-out, kernel-only"),
        ("tcp.port = 80", "=", "did you mean '=='?"),
        ("tcp | udp", "|", "did you mean '||'?"),
        ("tcp udp", "udp", "and, or, xor or the end is expected here"),
        ('kbl.func == "ip', '"ip', "not closed"),
        ("eth[0:2", "[0:2", "']' is missing"),
        ("eth[x] == 1", "[x]", "a slice has the form"),
        ("eth[3:0] == 1", "[3:0]", "empty"),
        ("tcp.port[0] == 1", "tcp.port[0]", "no slices"),
        ("eth[0:2] == 01:02:03", "01:02:03", "the slice has 2 bytes"),
        ("eth.src[0:3] contains 01", "eth.src[0:3] contains 01", "part of an address"),
        ("tcp == 5", "tcp == 5", "is a protocol"),
        ("vlan == 5", "vlan == 5", "has no value"),
        ("tcp.port contains 5", "tcp.port contains 5", "'contains' works only on text and bytes"),
        ("tcp.port matches 5", "tcp.port matches 5", "'matches' works only on text and bytes"),
        ("tcp.flags.syn > 0", "tcp.flags.syn > 0", "no order"),
        ('kbl.func matches "a(b"', '(b"', "the pattern is not valid"),
        ("tcp.port in 80", "80", "a set such as"),
        ("tcp.port in {80..20}", "20", "ends before it begins"),
        ("ip.src == tcp.port", "ip.src == tcp.port", "cannot be compared"),
        ("kbl.dur == frame.time_delta", "kbl.dur == frame.time_delta", "different things"),
        ("call(kbl.func == a && ip.src == 1.2.3.4)", "ip.src", "not a field of calls"),
        ("call(call(kbl.func))", "call(kbl.func)", "inside 'call()'"),
        ("nonsense(tcp)", "nonsense", "not a function"),
        ("len(tcp.port) > 1", "len(tcp.port)", "not for a"),
        ("len(kbl.func)", "len(kbl.func)", "a comparison such as '> 10' is missing"),
        ("ip.src & 1", "ip.src & 1", "& is for numbers"),
        ("tcp[0] & 0x1234", "0x1234", "the mask does not fit"),
        ("80 contains tcp.port", "80", "the field must come first"),
        ("1 == 2", "1", "unknown field"),
        ("udp contains \"\"", '""', "the bytes to look for are empty"),
        ("tcp @ 5", "@", "has no meaning"),
    ],
)  # fmt: skip
def test_errors_point_at_the_place(text: str, place: str, message: str) -> None:
    with pytest.raises(FilterError) as caught:
        parse(text)
    error = caught.value
    assert text[error.position : error.position + error.length] == place
    assert message in error.message
    _, marks, reason = error.marked().splitlines()
    assert marks == " " * error.position + "^" * error.length and reason == error.message


@pytest.mark.parametrize("text", ["tcp &&", "tcp.port ==", "tcp.port in {80", "!", "(tcp", "call("])
def test_errors_at_the_end(text: str) -> None:
    with pytest.raises(FilterError) as caught:
        parse(text)
    assert caught.value.position == len(text) and caught.value.length == 0
    assert caught.value.marked().splitlines()[1].endswith("^")


@pytest.mark.parametrize("operator", ["and", "or", "xor"])
def test_many_operands_make_no_deep_tree(operator: str) -> None:
    plan = parse(f" {operator} ".join(f"udp.port == {port}" for port in range(5000)))
    assert [of.right for of in _relations(plan)] == [Range(port, port) for port in range(5000)]


def _relations(plan: p.Plan | None) -> list[p.Relation]:
    """Return the leaves from left to right; recursion would fail for a deep tree."""
    if isinstance(plan, p.Joined):
        return [*_relations(plan.left), *_relations(plan.right)]
    assert isinstance(plan, p.Relation)
    return [plan]


def test_depth_is_limited() -> None:
    assert parse("!" * (MAX_DEPTH - 1) + "tcp") is not None
    for text in ("!" * 5000 + "tcp", "(" * 5000 + "tcp" + ")" * 5000):
        with pytest.raises(FilterError, match="nested too deeply"):
            parse(text)


@pytest.mark.parametrize(
    ("text", "listed"),
    [
        ("frame.number == 3", True), ("frame.number in {1..5, 9}", True), ("frame.number", True),
        ("frame.number > 3 && frame.number < 9 || frame.number == 12", True), ("", False),
        ("!(frame.number == 3)", False), ("frame.number == 3 && tcp", False), ("tcp", False),
    ],
)  # fmt: skip
def test_filters_of_numbers(text: str, listed: bool) -> None:
    assert lists_packets(text) is listed
