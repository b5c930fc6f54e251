# SPDX-License-Identifier: MIT
"""A packet's path as a text tree and as XML."""

from __future__ import annotations

from xml.etree import ElementTree

from skbviewer.export import path_lines, path_xml
from skbviewer.records import Captured

from .paths import NO_LEGS, captured, of_two_hosts, path


def line(text: str) -> str:
    return next(line for line in path_lines(path()) if text in line)


def test_the_tree_is_indented_by_depth() -> None:
    names = ["netif_receive_skb", "ip_rcv", "udp_rcv"]
    columns = [line(name).index(name) for name in names]
    assert [column - columns[0] for column in columns] == [0, 2, 4]


def test_times_are_microseconds_after_the_begin() -> None:
    assert line("netif_receive_skb").split()[:3] == ["0.000", "0.500", "0.500"]
    assert line("udp_rcv").split()[:3] == ["0.200", "0.300", "0.100"]
    assert line("ip_rcv").split()[:3] == ["0.100", "-", "-"]
    assert "0.900 us in the kernel" in line("leg 1")
    assert "captured at 0.050 +- 0.020 us" in line("leg 1")


def test_a_leg_without_a_known_device_has_no_gap_in_its_title() -> None:
    leg = path().legs[0]._replace(device="")
    lines = path_lines(path()._replace(legs=(leg,)))
    assert f": {leg.kind} (series {leg.series}): " in next(one for one in lines if "leg 1" in one)


def test_a_line_says_who_called_and_what_was_odd() -> None:
    assert "<- net<rx>+0x10" in line("ip_rcv")
    assert "[no exit recorded]" in line("ip_rcv")
    assert "(tail call)" in line("udp_rcv")
    assert "(tail call)" not in line("ip_rcv")


def test_a_wait_stands_between_the_calls() -> None:
    lines = list(path_lines(path()))
    (wait,) = [i for i, text in enumerate(lines) if "socket queue" in text]
    assert "7.500 us" in lines[wait]
    assert "udp_rcv" in lines[wait - 1]
    assert "skb_consume_udp" in lines[wait + 1]


def test_the_packet_stands_first() -> None:
    first, second, *_ = path_lines(path())
    assert first == "packet 4  10.0.0.1 -> 10.0.0.2  UDP  1000 → 53 Len=4"
    assert "exact. Only packet with this key." in second
    assert "leg 1" in "".join(list(path_lines(path(with_packet=False)))[:2])


def test_a_packet_without_a_path_says_so() -> None:
    assert list(path_lines(NO_LEGS))[-1] == "no kernel path"


def test_xml_nests_as_the_calls_did() -> None:
    root = ElementTree.fromstring(path_xml(path()))
    assert root.get("packet") == "4"
    (leg,) = root.findall("leg")
    outer, reader = leg.findall("call")
    assert (outer.get("function"), reader.get("function")) == (
        "netif_receive_skb",
        "skb_consume_udp",
    )
    (inner,) = outer.findall("call")
    assert inner.get("function") == "ip_rcv"
    assert inner.get("caller") == "net<rx>+0x10"
    assert inner.get("comm") == 'a,"b" & c'
    assert inner.get("exit_ns") is None
    assert [call.get("function") for call in inner.findall("call")] == ["udp_rcv"]


def test_xml_of_a_packet_without_a_path() -> None:
    root = ElementTree.fromstring(path_xml(NO_LEGS))
    assert list(root) == []


def test_branches_come_behind_the_legs() -> None:
    whole = path()
    branch = whole.legs[0]._replace(relation="parent", series=9, wire_ns=None)
    lines = list(path_lines(whole._replace(branches=(branch,))))
    (title,) = [at for at, text in enumerate(lines) if text.startswith("cloned or cut from: ")]
    assert "(series 9)" in lines[title] and "captured" not in lines[title]
    assert title > next(at for at, text in enumerate(lines) if text.startswith("leg 1"))


def test_a_leg_of_several_logs_names_its_own_and_when_it_begins() -> None:
    first, second = (text for text in path_lines(of_two_hosts()) if text.startswith("leg "))
    assert first.startswith("leg 1: tx eth0 of left (series 3)")
    assert "after leg 1" not in first and first.endswith("captured at 0.150 +- 0.007 us")
    assert second.startswith("leg 2: rx eth0 of right (series 3)")
    assert "begins 40000.100 +- 0.300 us after leg 1" in second
    assert second.endswith("captured at 0.050 +- 0.020 us")


def test_what_nobody_knows_of_two_clocks_is_not_written() -> None:
    whole = of_two_hosts()
    second = whole.legs[1]._replace(session_error_ns=None)
    lines = list(path_lines(whole._replace(legs=(whole.legs[0], second))))
    (line,) = [text for text in lines if text.startswith("leg 2")]
    assert "offset from leg 1 unknown" in line and "40000" not in line


def test_two_legs_of_the_same_log_are_exactly_apart() -> None:
    whole = of_two_hosts()
    again = whole.legs[0]._replace(kind="forward", begin_ns=2_900)
    lines = path_lines(whole._replace(legs=(*whole.legs, again)))
    (line,) = [text for text in lines if text.startswith("leg 3")]
    assert "begins 2.000 us after leg 1" in line


def test_xml_of_several_logs_says_what_joins_their_clocks() -> None:
    (only,) = ElementTree.fromstring(path_xml(path())).findall("leg")
    assert set(only.attrib) == {"series", "kind", "kernel_ns"}
    sent, got = ElementTree.fromstring(path_xml(of_two_hosts())).findall("leg")
    assert (sent.get("log"), sent.get("session_error_ns")) == ("left", "0")
    assert (got.get("log"), got.get("session_offset_ns")) == ("right", "5040000000")
    assert (got.get("session_error_ns"), got.get("wire_error_ns")) == ("300", "20")


def test_the_leg_in_which_it_was_captured_says_where_and_between_what_times() -> None:
    whole = captured(Captured("eth0", "in", 1010, 1300, True))
    (head,) = [text for text in path_lines(whole) if text.startswith("leg 1")]
    assert head.endswith(
        "captured at 0.050 +- 0.020 us as eth0 received it, between 0.010 and 0.300 us"
    )
    unnamed = captured(Captured("", "out", 900, 1300, False))
    (head,) = [text for text in path_lines(unnamed) if text.startswith("leg 1")]
    assert head.endswith(
        "captured at 0.050 +- 0.020 us as it was sent, between -0.100 and 0.300 us"
    )
    assert line("leg 1").endswith("captured at 0.050 +- 0.020 us")


def test_xml_says_where_it_was_captured() -> None:
    root = ElementTree.fromstring(path_xml(captured(Captured("", "out", 900, 1300, False))))
    (element,) = root.iter("captured")
    assert element.attrib == {
        "direction": "out", "after_ns": "900", "before_ns": "1300", "socket": "no"
    }  # fmt: skip
    assert not list(ElementTree.fromstring(path_xml(path())).iter("captured"))


def test_flags_in_xml_are_yes_or_no() -> None:
    root = ElementTree.fromstring(path_xml(path()))
    values = {call.get("tail_call") for call in root.iter("call")}
    assert values == {"yes", "no"}
