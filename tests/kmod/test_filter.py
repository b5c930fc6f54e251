# SPDX-License-Identifier: MIT
"""The filter decides as libpcap's does, or "unknown" if it cannot decide yet."""

from __future__ import annotations

import random
import re
import socket
import subprocess
from pathlib import Path

import pytest

from tests.kmod.filter import tcpdump
from tests.kmod.filter.build import KMOD, Answer, ask, program
from tests.kmod.filter.packets import (
    ICMP,
    ICMP6,
    SCTP,
    TCP,
    UDP,
    UDPLITE,
    Packet,
    Sock,
    frame,
    sock_subject,
    subject,
)

V4 = ("10.0.0.1", "10.0.0.2", "10.0.9.1", "10.9.0.1", "192.168.1.1", "0.0.0.0")
V6 = ("2001:db8::1", "2001:db8::2", "2001:db8:9::1", "fe80::1", "::1")
PORTS = (7, 53, 80, 443, 32768, 65535)
AF_UNIX, AF_NETLINK, AF_PACKET = 1, 16, 17
NEW_SYN_RECV = 12

WORDS = ["tcp", "udp", "sctp", "icmp", "icmp6", "ip", "ip6", "arp", "rarp", "src", "dst",
         "src or dst", "src and dst", "dst or src", "host", "net", "port", "portrange", "proto",
         "and", "or", "not", "&&", "||", "!", "(", ")", "10.0.0.1", "10.0.0.0/8", "10.9",
         "2001:db8::1", "2001:db8::/32", "80", "53-80", "6", "\\udp"]  # fmt: skip


def population() -> list[Packet]:
    """Packets of each kind with addresses and ports of small sets, always the same ones."""
    draw = random.Random(1)
    packets = [Packet("lldp")]
    for layer3, hosts in (("ip", V4), ("ip6", V6)):
        for protocol in (TCP, UDP, SCTP, UDPLITE, ICMP, ICMP6, 47) * 8:
            src, dst = draw.choices(hosts, k=2)
            sport, dport = draw.choices(PORTS, k=2)
            packets.append(Packet(layer3, src, dst, protocol, sport, dport))
        for protocol in (TCP, UDP) * 4:
            src, dst = draw.choices(hosts, k=2)
            packets.append(Packet(layer3, src, dst, protocol, 80, 53, frag_off=9, fragment=True))
    for layer3 in ("arp", "rarp") * 8:
        src, dst = draw.choices(V4, k=2)
        packets.append(Packet(layer3, src, dst))
    return packets


PACKETS = population()


@pytest.fixture(scope="module")
def capture(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("filter") / "all.pcap"
    tcpdump.write(path, [frame(packet) for packet in PACKETS])
    return path


def primitive(draw: random.Random) -> str:
    """One primitive that both know."""
    way = draw.choice(["", "src ", "dst ", "src or dst ", "src and dst ", "dst and src "])
    v4, v6 = draw.choice(V4), draw.choice(V6)
    transport = draw.choice(["", "tcp ", "udp ", "sctp "])
    low, high = draw.choices(PORTS, k=2)
    return draw.choice([
        draw.choice(["tcp", "udp", "sctp", "icmp", "icmp6", "ip", "ip6", "arp", "rarp"]),
        f"{draw.choice(['', 'ip ', 'arp ', 'rarp '])}{way}host {v4}",
        f"{draw.choice(['', 'ip6 '])}{way}host {v6}",
        f"{way}net {draw.choice(['10', '10.0', '10.0.9', '192.168.1.1', '10.0.0.0/30'])}",
        f"{way}net {draw.choice(['0.0.0.0/0', '10.0.0.0/15', '10.0.0.0 mask 255.255.0.0'])}",
        f"{way}net {draw.choice(['2001:db8::/32', '2001:db8::/47', '::/0', '::1', 'fe80::/10'])}",
        f"{transport}{way}port {draw.choice(PORTS)}",
        f"{transport}{way}portrange {low}-{high}",
        f"{draw.choice(['', 'ip ', 'ip6 '])}proto {draw.choice([1, 6, 17, 47, 58, 132])}",
        f"{transport}{way}port ({low} or {high})",
        f"{way}port {low} or {high}",
    ])  # fmt: skip


def expression(draw: random.Random, depth: int = 2) -> str:
    """A random expression of primitives."""
    if not depth:
        return primitive(draw)
    parts = [expression(draw, depth - 1) for _ in range(draw.randint(1, 3))]
    glue = [draw.choice([" and ", " or ", " && ", "||"]) for _ in parts[1:]] + [""]
    text = "".join(part + joint for part, joint in zip(parts, glue, strict=True))
    return draw.choice(["{}", "not ({})", "! ({})", "({})"]).format(text)


def judge(text: str, said: Answer, matched: set[int]) -> None:
    """Check one filter against libpcap's verdicts; unknown is right for no whole packet."""
    assert said.error is None, (text, said.error)
    for number, (packet, letter) in enumerate(zip(PACKETS, said.verdicts, strict=True)):
        allowed = ("Y" if number in matched else "N") + ("" if packet.whole else "U")
        assert letter in allowed, (text, packet)


def test_verdicts_are_those_of_libpcap(capture: Path) -> None:
    draw = random.Random(2)
    texts = [primitive(draw) for _ in range(150)] + [expression(draw) for _ in range(150)]
    answers = ask([t.encode() for t in texts], [subject(p) for p in PACKETS])
    some = 0
    for text, said in zip(texts, answers, strict=True):
        matched = tcpdump.matches(capture, text)
        assert matched is not None, text
        some += 0 < len(matched) < len(PACKETS)
        judge(text, said, matched)
    assert some > 150


def test_texts_are_filters_where_they_are_for_libpcap(capture: Path) -> None:
    draw = random.Random(3)
    texts = {" ".join(draw.choices(WORDS, k=draw.randint(1, 6))) for _ in range(1000)}
    ordered = sorted(texts)
    answers = ask([t.encode() for t in ordered], [subject(p) for p in PACKETS])
    both = 0
    for text, said in zip(ordered, answers, strict=True):
        matched = tcpdump.matches(capture, text)
        if said.error is not None:
            # The one thing less: "host 10.9" for a network.
            assert matched is None or said.error[2].endswith("use net"), (text, said.error)
        elif matched is None:
            # The one thing more: no backslash needed.
            assert re.search(r"proto [a-z]", text), text
        else:
            judge(text, said, matched)
            both += 1
    assert both > 5


def one(text: str, packet: Packet) -> str:
    """Return the verdict over one packet."""
    said = ask([text.encode()], [subject(packet)])[0]
    assert said.error is None
    return said.verdicts


def of_sock(text: str, sock: Sock) -> str:
    """Return the verdict over one socket."""
    said = ask([text.encode()], [sock_subject(sock)])[0]
    assert said.error is None
    return said.verdicts


@pytest.mark.parametrize(
    ("text", "packet", "verdict"),
    [
        ("dev eth0", Packet("ip", "10.0.0.1", "10.0.0.2", dev="eth0"), "Y"),
        ("dev eth0", Packet("ip", "10.0.0.1", "10.0.0.2", dev="eth01"), "N"),
        ("dev eth01", Packet("ip", "10.0.0.1", "10.0.0.2", dev="eth0"), "N"),
        ("dev eth0", Packet("ip", "10.0.0.1", "10.0.0.2"), "U"),
        ("not dev port", Packet("arp", "10.0.0.1", "10.0.0.2", dev="port"), "N"),
        ("dev a-device-of-15.", Packet("lldp", dev="a-device-of-15."), "Y"),
        ("mark 5", Packet("ip", "10.0.0.1", "10.0.0.2", mark=5), "Y"),
        ("mark 5", Packet("ip", "10.0.0.1", "10.0.0.2", mark=0x15), "N"),
        ("mark 5/0xf", Packet("ip", "10.0.0.1", "10.0.0.2", mark=0x15), "Y"),
        ("mark 0", Packet("none"), "U"),
        ("netns 4026531840", Packet("lldp", netns=4026531840), "Y"),
        ("netns 4026531840", Packet("lldp", netns=4026531841), "N"),
        ("netns 4026531840", Packet("lldp"), "U"),
        ("pid 17", Packet("lldp", tid=17), "Y"),
        ("pid 17 or 18", Packet("lldp", tid=18), "Y"),
        ("pid 17", Packet("none", tid=18), "N"),
        ("tcp", Packet("none"), "U"),
        ("not tcp", Packet("none"), "U"),
        ("tcp and pid 1", Packet("none", tid=2), "N"),
        ("tcp or pid 1", Packet("none", tid=1), "Y"),
        ("", Packet("none"), "Y"),
        ("port 80", Packet("ip", "10.0.0.1", "10.0.0.2", UDP, 80, 80, frag_off=3), "U"),
        ("tcp port 80", Packet("ip", "10.0.0.1", "10.0.0.2", UDP, 80, 80, frag_off=3), "N"),
        ("udp", Packet("ip6", "::1", "::1", UDP, 80, 80, 3, fragment=True), "U"),
    ],
)
def test_own_words_and_what_is_not_known(text: str, packet: Packet, verdict: str) -> None:
    assert one(text, packet) == verdict


INET, INET6 = socket.AF_INET, socket.AF_INET6
CONNECTED = Sock(INET, TCP, "10.0.0.1", "10.0.0.2", 40000, 80)
CALL = Sock(INET, TCP, "10.0.0.1", "10.0.0.2", 40000, 80, outgoing=False)
MAPPED = Sock(INET6, TCP, "::ffff:10.0.0.1", "::ffff:10.0.0.2", 40000, 80)
UNBOUND = Sock(INET6, UDP)
BOUND = Sock(INET6, UDP, local="2001:db8::1", num=53)


@pytest.mark.parametrize(
    ("text", "sock", "verdict"),
    [
        ("tcp and src host 10.0.0.1 and dst port 80", CONNECTED, "Y"),
        ("src host 10.0.0.2", CONNECTED, "N"),
        ("src host 10.0.0.2", CALL, "U"),
        ("src and dst net 10", CALL, "Y"),
        ("port 80 and host 10.0.0.2", CALL, "Y"),
        ("not src port 80", CALL, "U"),
        ("src port 81", CALL, "N"),
        ("udp or ip6 or arp", CONNECTED, "N"),
        ("host 10.0.0.2 and ip", MAPPED, "Y"),
        ("ip6", MAPPED, "N"),
        ("ip6", UNBOUND, "U"),
        ("udp", UNBOUND, "Y"),
        ("tcp or arp", UNBOUND, "N"),
        ("host 10.0.0.1", UNBOUND, "U"),
        ("arp host 10.0.0.1", UNBOUND, "N"),
        ("ip6 and src port 53", BOUND, "Y"),
        ("dst port 53", BOUND, "U"),
        ("dst host 2001:db8::7", BOUND, "U"),
        ("host 10.0.0.1", BOUND, "N"),
        ("tcp", Sock(INET, 999, "10.0.0.1", state=NEW_SYN_RECV), "Y"),
        ("tcp", Sock(INET, 262), "Y"),
        ("icmp", Sock(INET, 255), "U"),
        ("tcp", Sock(AF_PACKET, 3), "U"),
        ("not tcp", Sock(AF_UNIX, 0), "N"),
        ("pid 0 or not pid 0", Sock(AF_NETLINK, 0), "N"),
        ("", Sock(AF_NETLINK, 0), "Y"),
    ],
)
def test_before_the_header_the_socket_decides(text: str, sock: Sock, verdict: str) -> None:
    assert of_sock(text, sock) == verdict


@pytest.mark.parametrize(
    ("text", "word", "why"),
    [
        ("tcp and foo", "foo", "not a word of this subset of pcap-filter"),
        ("host example.org", "example.org", "not looked up"),
        ("host 10.9", "10.9", "not a whole address; use net"),
        ("host 10.0.0.1/8", "10.0.0.1/8", "not one address; use net"),
        ("port http", "http", "not looked up"),
        ("port 65536", "65536", "not a port"),
        ("icmp port 7", "7", "only tcp, udp and sctp"),
        ("tcp host 10.0.0.1", "10.0.0.1", "no addresses"),
        ("net 10.0.0.1/8", "10.0.0.1/8", "after its prefix"),
        ("net 10.0.0.0/33", "10.0.0.0/33", "prefix length"),
        ("net 10.0.0.0 mask 255.0.255.0", "255.0.255.0", "contiguous"),
        ("(tcp or udp", "", "not closed"),
        ("tcp)", ")", "no parenthesis is open"),
        ("tcp udp", "udp", "and, or"),
        ("tcp and", "", "missing"),
        ("tcp & udp", "&", "not a word"),
        ("tcp and dev \x01", "\x01", "not a word"),
        ("src dev eth0", "eth0", "no protocol or direction"),
        ("dev a-device-of-16..", "a-device-of-16..", "15 characters"),
        ("mark 0x10/0x01", "0x10/0x01", "outside its mask"),
        ("pid self", "self", "not a number"),
        ("port 080", "080", "not a port"),
        ("tcp[13] = 2", "tcp[13]", "not a word"),
        ("(" * 65, "", "deep"),
        ("(not (" * 40 + "tcp" + "))" * 40, "", "deep"),
        (" and ".join(["tcp"] * 33), "", "too long"),
        ("tcp and (" * 30 + "tcp" + ")" * 30, "", "deep"),
    ],
)
def test_what_is_wrong_is_named(text: str, word: str, why: str) -> None:
    error = ask([text.encode()], [])[0].error
    assert error is not None
    at, length, said = error
    assert why in said
    assert text[at : at + length].strip("()") == word.strip("()") or why in ("deep", "too long")


def test_the_longest_filter_fits() -> None:
    text = " and ".join(["tcp"] * 32)
    assert one(text, Packet("ip", "10.0.0.1", "10.0.0.2", TCP)) == "Y"


def test_random_bytes_crash_nothing() -> None:
    draw = random.Random(4)
    alphabet = bytes(range(1, 256)).replace(b"\n", b"")
    texts = [bytes(draw.choices(alphabet, k=draw.randint(0, 200))) for _ in range(3000)]
    words = [word.encode() for word in [*WORDS, "mark", "pid", "dev", "netns", "mask", "/", "-"]]
    for _ in range(8000):
        joint = draw.choice([b" ", b" ", b""])
        texts.append(joint.join(draw.choices(words, k=draw.randint(1, 70))))
        texts.append(joint.join(draw.choices(words, k=draw.randint(1, 5))))
    subjects = [subject(PACKETS[1]), subject(PACKETS[-1]), sock_subject(CALL)]
    answers = ask(texts, subjects)
    assert len(answers) == len(texts)
    assert all((a.error is None) == (len(a.verdicts) == len(subjects)) for a in answers)
    assert sum(a.error is None for a in answers) > 100


def test_what_the_handlers_call_cannot_be_probed() -> None:
    """Each function of facts, evaluator and table is inline or on the blacklist."""
    for part in ("facts", "eval", "table"):
        text = (KMOD / f"kbl_filter_{part}.c").read_text()
        heads = r"^(?!static inline)[a-z][^\n;=]*?\b(kbl_\w+)\("
        found = set(re.findall(heads, text, re.MULTILINE))
        listed = set(re.findall(r"NOKPROBE_SYMBOL\((\w+)\)", text))
        assert len(found) >= 4
        assert found == listed


@pytest.mark.parametrize(("keys", "full"), [(200, False), (20_000, True)])
def test_an_accepted_packet_is_found_until_it_is_forgotten(keys: int, full: bool) -> None:
    path = program("table", ("table",), "thread")
    done = subprocess.run([str(path), "4", str(keys)], capture_output=True, check=False)
    assert (done.returncode, done.stderr) == (0, b"")
    assert (int(done.stdout) > 0) == full
