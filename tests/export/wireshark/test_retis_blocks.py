# SPDX-License-Identifier: MIT
"""Captures in the blocks of `retis pcap`: the layout, the events, and names that forge nothing."""

from __future__ import annotations

import json
import struct
from collections.abc import Iterator
from pathlib import Path

import pytest

from skbviewer.export import Request, write_pcapng
from skbviewer.export.wireshark.retis_events import event_of_log, text_of
from skbviewer.session import Session, import_files
from tests.e2e.samples import open_sample
from tests.readers import build_retis as retis

from .points import (
    BEGIN,
    CAPTURED,
    COMM,
    DEVICE,
    FRAMES,
    HIDDEN,
    STEP,
    SYMBOL,
    Block,
    blocks,
    events,
    session_of,
)
from .test_with_tshark import tshark

PEN = struct.pack("<I", 70_000)
SHAPE = Request(retis=True)
POINTS = 2  # with bytes, of each lifetime


@pytest.fixture(scope="module")
def alone(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Session]:
    """The log without a capture."""
    folder = tmp_path_factory.mktemp("alone")
    import_files([retis.write(folder / "retis.data", events())], folder / "s.skbv")
    session = Session.open(folder / "s.skbv")
    yield session
    session.close()


def event_in(block: Block) -> dict[str, object]:
    (raw,) = (value for code, value in block.options if code == 2988)
    assert raw[:4] == PEN
    made = json.loads(raw[4:])
    assert isinstance(made, dict)
    return made


def comment_of(block: Block) -> str:
    (raw,) = (value for code, value in block.options if code == 1)
    return raw.decode()


def test_each_point_is_a_block_with_its_event(alone: Session, tmp_path: Path) -> None:
    out = tmp_path / "out.pcapng"
    write_pcapng(alone, SHAPE, out)
    every, found = blocks(out)
    assert [kind for kind, _ in every[:3]] == [0x0A0D0D0A, 0xBAD, 1]
    schema = json.loads(every[1][1][4:].rstrip(b"\0"))
    assert every[1][1][:4] == PEN and schema["title"] and "common" in schema["properties"]
    given = [event for event in events() if "packet" in event]
    assert len(found) == POINTS * len(FRAMES) == len(given)
    for block, event in zip(found, given, strict=True):
        assert block.ts == event["common"]["timestamp"] + BEGIN - retis.MONO_NS
        assert block.length == event["packet"]["len"]
        assert event_in(block) == {k: v for k, v in event.items() if k != "packet"}
        assert [code for code, _ in block.options] == [1, 2988]
        assert block.interface[9] == b"\x09"
    assert [block.data for block in found[::POINTS]] == FRAMES
    assert found[0].interface[2] == b"raw_tracepoint/net:netif_receive_skb"
    assert found[0].interface[3] == (
        b"Fake interface for probe raw_tracepoint/net:netif_receive_skb"
    )
    assert sum(kind == 1 for kind, _ in every) == 2  # one for each probe


def test_names_in_comments_forge_nothing(alone: Session, tmp_path: Path) -> None:
    out = tmp_path / "out.pcapng"
    write_pcapng(alone, SHAPE._replace(rows=(1,)), out)
    _, (first, second) = blocks(out)
    begin = retis.MONO_NS + STEP
    head, skb = retis.HEAD + STEP, retis.HEAD + 64
    assert comment_of(first).splitlines() == [
        f"{begin + 400} (2) [x%5D%201%20%5Btp%5D%20f] 70 [tp] net:netif_receive_skb "
        f"#{begin:x}{head:x} (skb {skb:x})",
        f"  ns 0x1/{retis.NETNS} if 3 (a%29%0Askbviewer:kbl/2%20kbl%20cpu%3D9)",
        "  not in any capture",
    ]
    assert "drop (reason A%3DB%20c)" in comment_of(second)
    assert second.interface[2] == b"kprobe/net:rcv%20drop_reason%3DFORGED%2Cx"
    assert event_in(first)["dev"] == {"name": DEVICE, "ifindex": 3}
    assert event_in(second)["kernel"] == {"symbol": SYMBOL, "probe_type": "kprobe"}
    assert COMM in str(event_in(first)["common"])
    lines = tshark(out, "-Y", "frame.len", "-T", "fields", "-e", "frame.len")
    assert [int(one) for one in lines if int(one) > 1000] == [len(FRAMES[0]) + 1000]


def test_captured_packets_have_no_event_of_another_packet(tmp_path: Path) -> None:
    session = session_of(tmp_path)
    out = tmp_path / "out.pcapng"
    write_pcapng(session, SHAPE, out)
    _, found = blocks(out)
    assert [block.data for block in found] == FRAMES[:CAPTURED]
    assert {len(block.options) for block in found} == {0}  # points match nothing exactly
    assert {block.interface[2] for block in found} == {b"? (0)"}
    write_pcapng(session, SHAPE._replace(kernel_only=True), out)
    _, found = blocks(out)
    assert len(found) == CAPTURED + POINTS * HIDDEN
    assert {block.data for block in found[CAPTURED:]} == set(FRAMES[CAPTURED:])
    session.close()


def test_calls_of_a_kernel_log_are_events(tmp_path: Path) -> None:
    session, _ = open_sample("nat", tmp_path)
    out = tmp_path / "out.pcapng"
    write_pcapng(session, SHAPE, out)
    _, found = blocks(out)
    assert len(found) == session.packets.count()
    for number, block in enumerate(found, start=1):
        path = session.paths.path(number)
        assert block.data == session.contents.packet_bytes(number)
        if path.legs and path.legs[0].match == "exact":
            event = event_in(block)
            calls = [call for leg in path.legs for call in leg.calls]
            (mine,) = [
                call for call in calls
                if (call.function, call.entry_ns) == (
                    event["kernel"]["symbol"], event["common"]["timestamp"])  # type: ignore[index]
            ][:1]  # fmt: skip
            assert event["common"]["smp_id"] == mine.cpu  # type: ignore[index]
            assert "never seen" not in comment_of(block)
        else:
            assert not block.options
    named = [block.interface[2].decode() for block in found if block.options]
    assert named and all(name.endswith(")") for name in named)
    lines = tshark(out, "-T", "fields", "-e", "frame.number")
    assert len(lines) == len(found) + 1  # the schema's block is a frame of Wireshark


def test_pseudonyms_and_cuts(alone: Session, tmp_path: Path) -> None:
    out = tmp_path / "out.pcapng"
    write_pcapng(alone, SHAPE._replace(pseudonym_key=b"k" * 16), out)
    raw = out.read_bytes()
    assert b"10.9.0.1" not in raw and bytes([10, 9, 0, 1]) not in raw
    _, found = blocks(out)
    assert set(event_in(found[0])) == {"common", "kernel", "skb-tracking", "netns", "dev"}
    assert [len(block.data) for block in found[::POINTS]] == [len(frame) for frame in FRAMES]
    write_pcapng(alone, SHAPE._replace(snaplen=30), out)
    _, found = blocks(out)
    assert {len(block.data) for block in found} == {30}
    assert found[0].length == len(FRAMES[0]) + 1000


def test_older_events_get_the_layout_of_newer_ones() -> None:
    event = retis.point(0, "f", 0, FRAMES[0])
    made = event_of_log(json.dumps(retis.older(event)).encode(), plain=False)
    assert made["dev"] == event["dev"] and made["netns"] == {"inum": retis.NETNS}
    assert "packet" not in made and "packet" not in made["skb"]


@pytest.mark.parametrize(
    "event",
    [{}, {"common": 1, "kernel": [], "dev": {}}, {"dev": {"ifindex": "1"}, "netns": {"inum": None}},
     {"skb-tracking": {"skb": -1, "orig_head": 1 << 70}}],
)  # fmt: skip
def test_sections_of_any_type_make_a_text(event: dict[str, object]) -> None:
    assert "[invalid]" in text_of(event)


def test_an_event_that_is_too_long_loses_sections(tmp_path: Path) -> None:
    long = retis.point(0, "f", 0, FRAMES[0])
    long_type = long["kernel"]["probe_type"]
    long["kernel"]["stack_trace"] = ["x" * 1000] * 80
    log = retis.write(tmp_path / "retis.data", [retis.startup(), long])
    import_files([log], tmp_path / "s.skbv")
    out = tmp_path / "out.pcapng"
    write_pcapng(Session.open(tmp_path / "s.skbv"), SHAPE, out)
    _, (block,) = blocks(out)
    kept = ("common", "kernel", "skb-tracking", "netns", "dev")
    expected = {name: long[name] for name in kept}
    assert event_in(block) == expected | {"kernel": {"symbol": "f", "probe_type": long_type}}
