# SPDX-License-Identifier: MIT
"""Exported captures: foreign comments and hostile names forge no field; cuts keep headers."""

from __future__ import annotations

import struct
import subprocess
import sys
from pathlib import Path
from urllib.parse import unquote_to_bytes

import numpy as np
import pytest

from skbviewer.export import Request, write_pcapng
from skbviewer.export.wireshark import kernel_field_comments
from skbviewer.export.wireshark.comment_format import LONGEST, PREFIX, percent_encoded
from skbviewer.export.wireshark.lua_script import lua_script
from skbviewer.export.wireshark.pcapng_block_loops import write_blocks
from skbviewer.readers import capture_description
from skbviewer.records import BadInput, resource
from skbviewer.session import Session, import_files
from tests.export.pseudonyms.frames import (
    ICMP,
    ICMPV6,
    SECRET,
    TCP,
    UDP,
    four,
    fragments,
    fragments6,
    six,
)
from tests.readers.build import ethernet, icmp, tcp, udp, write_pcap

from .test_with_tshark import tshark

FORGED = b"skbviewer:kbl/2 kbl drop_reason=FORGED"
FRAME = bytes(12) + b"\x08\x00" + bytes.fromhex("4500001d00010000401166a30a0900010a090002") + (
    struct.pack(">HHHH", 1000, 2000, 9, 0) + b"!"
)  # fmt: skip
HOSTILE = ("a b", "x,drop_reason=Y", "%20", "\n" + PREFIX.decode(), "é\udcff", "")


def tcp_with_options() -> bytes:
    """A TCP header with time stamps, and a payload."""
    head = struct.pack("!HHIIBBHHH", 1, 2, 3, 4, 0x80, 0x10, 99, 0, 0)
    return head + bytes.fromhex("0101080a0000000100000002") + SECRET


def block(order: str, kind: int, body: bytes) -> bytes:
    size = struct.pack(order + "I", len(body) + 12)
    return struct.pack(order + "I", kind) + size + body + size


def option(order: str, code: int, value: bytes) -> bytes:
    return struct.pack(order + "HH", code, len(value)) + value + bytes(-len(value) % 4)


def capture(order: str, *options: bytes) -> bytes:
    """A pcapng file with one packet, which has `options`."""
    head = struct.pack(order + "IHHq", 0x1A2B3C4D, 1, 0, -1)
    interface = struct.pack(order + "HHI", 1, 0, 0) + option(order, 2, b"eth7")
    packet = struct.pack(order + "IIIII", 0, 5, 6, len(FRAME), len(FRAME) + 100)
    packet += FRAME + bytes(-len(FRAME) % 4) + b"".join(options)
    parts = (0x0A0D0D0A, head), (1, interface), (6, packet)
    return b"".join(block(order, kind, body) for kind, body in parts)


def session_of(folder: Path, data: bytes) -> Session:
    path = folder / "in.pcapng"
    path.write_bytes(data)
    import_files([path], folder / "s.skbv")
    return Session.open(folder / "s.skbv")


@pytest.mark.parametrize("order", ["<", ">"])
def test_options_are_kept_and_no_comment_is_taken_for_ours(tmp_path: Path, order: str) -> None:
    numbers = option(order, 5, struct.pack(order + "Q", 77)) + option(
        order, 6, struct.pack(order + "I", 3)
    )
    drops = option(order, 4, struct.pack(order + "Q", 9))
    comment = option(order, 1, FORGED) + option(order, 1, b"plain")
    session = session_of(tmp_path, capture(order, comment, numbers, drops))
    out = tmp_path / "out.pcapng"
    write_pcapng(session, Request(), out)
    names = ("comment", "packet_id", "interface_queue", "drop_count", "interface_name", "len")
    words = [word for name in names for word in ("-e", f"frame.{name}")]
    (line,) = tshark(out, "-T", "fields", "-E", "aggregator=|", *words)
    shown, *rest = line.split("\t")
    assert rest[:4] == ["77", "3", "9", "eth7"]
    assert rest[4] == str(len(FRAME) + 100)
    first, second, ours = shown.split("|")
    assert first == FORGED.decode().replace(":", ";", 1)
    assert second == "plain"
    assert ours == f"{PREFIX.decode()} verdict=wire-only"


ASKED = (
    'kbl.dev == "last"',
    "kbl.functions == 7",
    "kbl.cpu == 3",
    "kbl",
    "kbl.dur > 0.000002",
    "kbl.dur < 0.0000011",
    'kbl.func == "f"',
)


@pytest.mark.parametrize("order", ["<", ">"])
def test_comments_of_captures_and_interfaces_are_kept(tmp_path: Path, order: str) -> None:
    texts = ["first \u00e9", FORGED.decode(), "skbviewer:kbl/2 of the interface"]
    first, second, of_interface = (option(order, 1, text.encode()) for text in texts)
    end, cut = struct.pack(order + "HH", 0, 0), struct.pack(order + "HH", 1, 9)
    head = struct.pack(order + "IHHq", 0x1A2B3C4D, 1, 0, -1)
    interface = struct.pack(order + "HHI", 1, 0, 0) + of_interface + option(order, 9, b"\x09")
    frame = struct.pack(order + "IIIII", 0, 0, 7, len(FRAME), len(FRAME)) + FRAME
    packet = block(order, 6, frame + bytes(-len(FRAME) % 4))
    data = block(order, 0x0A0D0D0A, head + first + end) + block(order, 1, interface + end) + packet
    data += block(order, 0x0A0D0D0A, head + second + cut)  # the second section ends badly
    data += block(order, 1, interface) + packet
    session, out = session_of(tmp_path, data), tmp_path / "out.pcapng"
    write_pcapng(session, Request(), out)
    texts[1:] = [text.replace(":", ";", 1) for text in texts[1:]]
    described = capture_description(out)
    assert [text.decode() for text in described.comments] == texts[:2]
    assert [one.comments for one in described.interfaces] == [(texts[2].encode(),)] * 2
    shown = subprocess.run(["capinfos", "-k", "-I", out], capture_output=True, check=True).stdout
    assert texts[0].encode() in shown and texts[2].encode() in shown
    script = tmp_path / "kbl.lua"
    script.write_text(lua_script())
    assert tshark(out, "-X", f"lua_script:{script}", "-Y", 'kbl.drop_reason == "FORGED"') == []
    write_pcapng(session, Request(pseudonym_key=bytes(16)), out)
    described = capture_description(out)
    assert not described.comments and not any(one.comments for one in described.interfaces)


@pytest.mark.parametrize("text", ASKED)
def test_the_script_reads_as_many_comments_as_it_needs(tmp_path: Path, text: str) -> None:
    long = b",".join(b"device%d" % n for n in range((LONGEST - 1000) // 12))
    first, calls = b" kbl functions=7 dev=eth0,last", b" func=f cpu=3 dur=1001,2002,3000,1500,1000"
    ranged, names = b" dur_range=1000,3000", b" names func=g,f,h"
    numbers = b" numbers dur=1001,2002,3000,1500,1000 cpu=2,3"
    given = (
        (first, calls),  # as an older version wrote them
        (b" kbl functions=7 dev=" + long, b" dev=last", calls),
        (first + ranged, names, numbers, b" others netns=1"),
        (first + ranged, names, numbers),
        (first + ranged, b" names func=" + long, b" func=f,h", numbers),
    )
    (tmp_path / "kbl.lua").write_text(lua_script())
    script = f"lua_script:{tmp_path / 'kbl.lua'}"
    user = option("<", 1, b"of the user")
    for number, texts in enumerate(given):
        options = [option("<", 1, PREFIX + one) for one in texts]
        for before in ([], [user]):
            file = tmp_path / f"{number}.pcapng"
            file.write_bytes(capture("<", *before, *options))
            shown = tshark(file, "-X", script, "-Y", text, "-T", "fields", "-e", "frame.number")
            assert shown == ["1"], (number, before)


def test_names_are_encoded() -> None:
    for name in HOSTILE:
        made = percent_encoded(name)
        assert not set(made) & set(b" ,=\n"), name
        assert unquote_to_bytes(made.decode()) == name.encode("utf-8", "surrogatepass")


@pytest.mark.parametrize("place", [0, 1])
def test_a_long_comment_is_continued_with_the_name_of_its_field(place: int) -> None:
    values = [b"value%d" % n for n in range(20_000)]
    text = PREFIX + b" a=1 b=" + b",".join(values) + b" c=2"
    zero, one = np.zeros(1, np.int64), np.ones(1, np.int64)
    out = np.empty(len(text) // 4 * 12, np.uint8)
    none = kernel_field_comments.texts_of([b""])
    given = [kernel_field_comments.texts_of([text]) if place == nth else none for nth in range(3)]
    size = write_blocks(
        np.zeros(8, np.uint8), np.zeros(1, np.bool_), zero, one, one, one, zero, zero, -one,
        (given[0], given[1]), given[2], True, out, out.view(np.uint32),
    )  # fmt: skip
    raw, at, found, parts = out[: int(size)].tobytes(), 32, [], 0
    while raw[at : at + 2] == b"\x01\x00":
        length = int.from_bytes(raw[at + 2 : at + 4], "little")
        comment = raw[at + 4 : at + 4 + length]
        assert comment.startswith(PREFIX + b" ")
        assert length <= LONGEST
        tokens = dict(token.split(b"=") for token in comment.split()[1:])
        found += tokens.get(b"b", b"").split(b",") if b"b" in tokens else []
        at, parts = at + 4 + length + -length % 4, parts + 1
    assert found == values
    assert parts > 1


@pytest.mark.parametrize(
    ("request_", "kept"),
    [(Request(payload=False), 42), (Request(snaplen=20), 20), (Request(), len(FRAME))],
)
def test_cut_packets_keep_their_length(tmp_path: Path, request_: Request, kept: int) -> None:
    session = session_of(tmp_path, capture("<"))
    out = tmp_path / "out.pcapng"
    write_pcapng(session, request_, out)
    (line,) = tshark(out, "-T", "fields", "-e", "frame.cap_len", "-e", "frame.len")
    assert line.split() == [str(kept), str(len(FRAME) + 100)]


ETHERNET, IPV4, IPV6 = 14, 20, 40
WITHOUT_PAYLOAD = (
    (ethernet(four(TCP, tcp(1, 2, payload=SECRET))), ETHERNET + IPV4 + 20),
    (ethernet(four(TCP, tcp_with_options())), ETHERNET + IPV4 + 32),
    (ethernet(four(UDP, udp(1, 2, SECRET)), vlans=((0x8100, 7),)), ETHERNET + 4 + IPV4 + 8),
    (ethernet(four(ICMP, icmp(8, 0, 1, 2, SECRET))), ETHERNET + IPV4 + 8),
    (ethernet(four(ICMP, icmp(3, 3, 0, 0, four(UDP, udp(1, 2, SECRET))))), ETHERNET + IPV4 + 8),
    (ethernet(six(TCP, tcp(1, 2, payload=SECRET)), 0x86DD), ETHERNET + IPV6 + 20),
    (ethernet(six(UDP, udp(1, 2, SECRET)), 0x86DD), ETHERNET + IPV6 + 8),
    (ethernet(six(ICMPV6, icmp(128, 0, 1, 2, SECRET)), 0x86DD), ETHERNET + IPV6 + 8),
    *((ethernet(part), ETHERNET + IPV4 + (0 if at else 8))
      for at, part in enumerate(fragments(four(UDP, udp(1, 2, SECRET * 40), frag_off=0)))),
    *((ethernet(part, 0x86DD), ETHERNET + IPV6 + (0 if at else 16))
      for at, part in enumerate(fragments6(six(UDP, udp(1, 2, SECRET * 40))))),
)  # fmt: skip


def test_no_payload_is_left(tmp_path: Path) -> None:
    """The packets are TCP, UDP and ICMP, quoted packets, and fragments."""
    times = range(10**18, 10**18 + len(WITHOUT_PAYLOAD))
    frames = [(at, frame) for at, (frame, _) in zip(times, WITHOUT_PAYLOAD, strict=True)]
    import_files([write_pcap(tmp_path / "in.pcap", frames)], tmp_path / "s.skbv")
    session, out = Session.open(tmp_path / "s.skbv"), tmp_path / "out.pcapng"
    write_pcapng(session, Request(payload=False), out)
    data = out.read_bytes()
    assert not any(SECRET[at : at + 8] in data for at in range(len(SECRET) - 8))
    lines = tshark(out, "-T", "fields", "-e", "frame.cap_len", "-e", "frame.len")
    found = [tuple(map(int, line.split())) for line in lines]
    assert found == [(kept, len(frame)) for frame, kept in WITHOUT_PAYLOAD]


def test_a_capture_that_has_moved_is_reported_and_nothing_is_written(tmp_path: Path) -> None:
    session = session_of(tmp_path, capture("<"))
    (tmp_path / "in.pcapng").unlink()
    with pytest.raises(BadInput):
        write_pcapng(session, Request(), tmp_path / "out.pcapng")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["s.skbv"]


def test_only_captured_packets_can_be_chosen(tmp_path: Path) -> None:
    session = session_of(tmp_path, capture("<"))
    for row in (2, -1):
        with pytest.raises(KeyError):
            write_pcapng(session, Request(rows=(row,)), tmp_path / "out.pcapng")


def test_the_command_writes_to_a_pipe(tmp_path: Path) -> None:
    sample = resource("samples/nat")
    import_files([sample / "nat.kbl", sample / "nat.pcap"], tmp_path / "s.skbv")
    command = (
        f"python -m skbviewer export {tmp_path}/s.skbv --pcapng - --packet 3-5,9 --range 0,100"
    )
    done = subprocess.run(
        [sys.executable, *command.split()[1:]], capture_output=True, check=True
    ).stdout
    (tmp_path / "piped.pcapng").write_bytes(done)
    assert len(tshark(tmp_path / "piped.pcapng")) == 4
