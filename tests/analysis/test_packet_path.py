# SPDX-License-Identifier: MIT
"""From inputs through a stored session to the path of a packet."""

from __future__ import annotations

from contextlib import closing
from pathlib import Path

import pytest

from skbviewer.records import PacketPath, Silent
from skbviewer.records.kbl_layout import KBL_FLAG_SKB_IS_RET, KBL_FLAG_TAIL_CALL, KblEvent
from skbviewer.session import Session
from skbviewer.session.importing import Input, store_inputs
from skbviewer.store import Builder, open_session
from tests.matching.story import HOST, OTHER, SOFTIRQ, Story, capture, udp4, udp4_frame
from tests.readers.build_kbl import STEXT

A, B = 0xFFFF888000001000, 0xFFFF888000002000
EPOCH = 1_600_000_000_000_000_000
OFFSET = EPOCH + 500_000  # the sniffer's clock is ahead by half a millisecond


def story() -> Story:
    """Packet 1: sent through a veth pair, received, dropped.  B: sent, seen by no sniffer."""
    story = Story()
    story.kbl.clock(1000, EPOCH + 1000)
    story.kbl.device(100, 2, "veth0")
    story.kbl.device(200, 3, "veth1")
    story.kbl.task(1, 0, 7, 7, "ping")
    story.alloc(1000, A, pid=7)
    by = STEXT + 0x10000 + story.function("ip_output") * 0x1000 + 0x30
    story.call("ip_output", 2000, 5000, A, pid=7, skbinfo=HOST, ipv4=udp4(1))
    story.call(
        "dev_hard_start_xmit",
        3000,
        4000,
        A,
        pid=7,
        caller=by,
        flags=KBL_FLAG_TAIL_CALL,
        skbinfo=HOST,
        ipv4=udp4(1),
    )
    story.call("__netif_rx", 3500, 3600, A, pid=7, skbinfo=OTHER, ipv4=udp4(1))
    story.call(
        "__netif_receive_skb", 6000, 8000, A, pid=7, context=SOFTIRQ, skbinfo=OTHER, ipv4=udp4(1)
    )
    story.call("kfree_skb_reason", 7000, 7500, A, pid=7, context=SOFTIRQ)
    story.event(7001, KblEvent.DROP, A, data=3, pid=7, context=SOFTIRQ)
    story.free(7100, A, pid=7, context=SOFTIRQ)
    story.alloc(20_000, B, pid=7)
    story.enter(21_000, "dev_hard_start_xmit", B, pid=7, skbinfo=HOST, ipv4=udp4(2))
    return story


def imported(folder: Path, story: Story, frames: list[tuple[int, bytes]]) -> Session:
    story.lasting(OFFSET if not story.kbl.clocks else None)
    inputs = [
        Input(story.log(folder), 1, "ab"),
        Input(capture(folder, [(ts + OFFSET, frame) for ts, frame in frames]), 2, "cd"),
    ]
    with Builder(folder / "a.skbv") as builder:
        store_inputs(inputs, builder, Silent())
        builder.finish()
    return Session.open(folder / "a.skbv")


@pytest.fixture
def session(tmp_path: Path) -> Session:
    return imported(tmp_path, story(), [(3000, udp4_frame(1)), (9000, udp4_frame(9))])


@pytest.fixture
def path(session: Session) -> PacketPath:
    return session.paths.path(packet=1)


def test_the_path_has_both_legs_in_order_of_time(path: PacketPath) -> None:
    assert [(leg.kind, leg.device, leg.match) for leg in path.legs] == [
        ("tx", "veth0", "exact"),
        ("rx", "veth1", "exact"),
    ]
    assert [leg.kernel_ns for leg in path.legs] == [3000, 4500]


def test_the_packets_time_is_the_union_of_its_legs(path: PacketPath) -> None:
    assert path.packet is not None
    assert path.packet.kernel_ns == 7000  # the legs are there at once for 500 ns
    assert sum(leg.kernel_ns or 0 for leg in path.legs) == 7500
    assert path.packet.functions == sum(len(leg.calls) for leg in path.legs)


def test_calls_say_who_where_and_what(path: PacketPath) -> None:
    call = next(c for c in path.legs[0].calls if c.function == "dev_hard_start_xmit")
    assert call.caller == "ip_output+0x30"
    assert call.tail_call
    assert (call.pid, call.comm, call.context, call.device) == (7, "ping", "task", "veth0")
    assert (call.entry_ns, call.exit_ns, call.dur_ns, call.self_ns) == (3000, 4000, 1000, 900)
    assert call.skb == A
    parent = path.legs[0].calls[call.parent]
    assert (parent.function, parent.tail_call, parent.depth) == ("ip_output", False, 0)


def test_parents_are_calls_of_their_own_leg(path: PacketPath) -> None:
    for leg in path.legs:
        for call in leg.calls:
            if call.depth:
                parent = leg.calls[call.parent]
                assert parent.depth == call.depth - 1
                assert parent.entry_ns <= call.entry_ns
            else:
                assert call.parent == -1


def test_a_drop_is_noted(path: PacketPath) -> None:
    notes = {c.function: c.note for leg in path.legs for c in leg.calls}
    assert notes["kfree_skb_reason"].startswith("drop")
    assert notes["ip_output"] == ""


def test_the_wait_for_the_softirq_is_shown(path: PacketPath) -> None:
    (wait,) = path.legs[1].waits
    assert (wait.what, wait.begin_ns, wait.dur_ns) == ("softirq", 3600, 2400)


@pytest.mark.parametrize(("begin", "end"), [(3700, 3800), (3000, 3600), (6000, 6100), (1, 9999)])
def test_a_wait_across_lost_records_is_no_queue(tmp_path: Path, begin: int, end: int) -> None:
    lossy = story()
    lossy.lost(end, 500, begin, cpu=1)
    with closing(imported(tmp_path, lossy, [(3000, udp4_frame(1))])) as session:
        (wait,) = session.paths.path(packet=1).legs[1].waits
    assert (wait.what, wait.begin_ns, wait.dur_ns) == ("records were lost meanwhile", 3600, 2400)


def test_a_loss_before_or_behind_a_wait_leaves_it(tmp_path: Path) -> None:
    lossy = story()
    for begin, end in ((3000, 3599), (6001, 7000)):
        lossy.lost(end, 500, begin, cpu=1)
    with closing(imported(tmp_path, lossy, [(3000, udp4_frame(1))])) as session:
        (wait,) = session.paths.path(packet=1).legs[1].waits
    assert wait.what == "softirq"


def test_the_wire_time_is_on_the_kernels_clock(path: PacketPath) -> None:
    assert {leg.wire_ns for leg in path.legs} == {3000}
    assert {leg.epoch_offset_ns for leg in path.legs} == {EPOCH}


def test_a_packet_without_a_life_has_an_empty_path(session: Session) -> None:
    path = session.paths.path(packet=2)
    assert path.legs == ()
    assert path.packet is not None
    assert path.packet.verdict == "wire-only"
    assert path.packet.kernel_ns is None


def test_a_life_without_a_packet_is_listed_with_its_path(session: Session) -> None:
    assert session.packets.kernel_only_count() == 1
    (row,) = session.packets.kernel_only(1, 10)
    assert (row.number, row.saddr, row.daddr, row.ip_id) == ("K1", "10.0.0.1", "10.0.0.2", 2)
    path = session.paths.path(series=row.series)
    assert path.packet is None
    (leg,) = path.legs
    assert leg.match == "kernel-only"
    notes = {call.function: call.note for call in leg.calls}
    assert notes == {"__alloc_skb": "", "dev_hard_start_xmit": "no exit recorded"}


def test_an_unknown_packet_or_series_is_a_key_error(session: Session) -> None:
    for wanted in ({"packet": 0}, {"packet": 3}, {"series": 99}):
        with pytest.raises(KeyError):
            session.paths.path(**wanted)


def test_a_reader_that_waits_shows_as_a_wait_in_the_socket(tmp_path: Path) -> None:
    late = Story()
    late.alloc(1000, A, pid=0, context=SOFTIRQ)
    late.call("__netif_receive_skb", 2000, 3000, A, pid=0, context=SOFTIRQ, ipv4=udp4(1))
    late.giver("__skb_recv_udp", 8800, 9000, A, pid=9)
    (leg,) = imported(tmp_path, late, [(2000, udp4_frame(1))]).paths.path(packet=1).legs
    assert leg.kernel_ns == 2000
    assert [(w.what, w.begin_ns, w.dur_ns) for w in leg.waits if w.dur_ns > 1000] == [
        ("socket queue", 3000, 6000)
    ]


@pytest.mark.parametrize("inner", [False, True])
def test_a_reader_that_waited_before_the_packet_came_did_not_hold_it(
    tmp_path: Path, inner: bool
) -> None:
    late = Story()
    late.giver("__skb_recv_udp", 10, 9500, A, cpu=1, pid=9)
    late.alloc(1000, A, pid=0, context=SOFTIRQ)
    late.call("__netif_rx", 1500, 1600, A, pid=0, context=SOFTIRQ, ipv4=udp4(1))
    late.call("__netif_receive_skb", 2000, 3000, A, pid=0, context=SOFTIRQ)
    if inner:
        late.giver("__skb_try_recv_from_queue", 9000, 9200, A, cpu=1, pid=9)
    (leg,) = imported(tmp_path, late, [(2000, udp4_frame(1))]).paths.path(packet=1).legs
    assert [(w.what, w.begin_ns, w.dur_ns) for w in leg.waits if w.begin_ns > 1500] == [
        ("softirq", 1600, 400),
        ("socket queue", 3000, 6200 if inner else 6500),
    ]


def test_a_call_that_returns_the_packet_it_took_holds_it_meanwhile(tmp_path: Path) -> None:
    story = Story()
    story.alloc(1000, A, pid=0, context=SOFTIRQ)
    place = {"pid": 0, "context": SOFTIRQ}
    story.call("__netif_receive_skb", 2000, 3000, A, ipv4=udp4(1), skbinfo=HOST, **place)
    story.enter(3000, "ip_rcv_core", A, **place)
    story.leave(4000, "ip_rcv_core", A, flags=KBL_FLAG_SKB_IS_RET, **place)
    (leg,) = imported(tmp_path, story, [(2000, udp4_frame(1))]).paths.path(packet=1).legs
    assert not [wait for wait in leg.waits if wait.begin_ns >= 2000]


def test_two_logs_and_two_captures_do_not_mix_up_their_rows(tmp_path: Path) -> None:
    folders = [tmp_path / "one", tmp_path / "two"]
    inputs = []
    for folder in folders:
        folder.mkdir()
        inputs.append(Input(story().log(folder), 1, "ab"))
        inputs.append(Input(capture(folder, [(3000 + OFFSET, udp4_frame(1))]), 2, "cd"))
    with Builder(tmp_path / "a.skbv") as builder:
        store_inputs(inputs, builder, Silent())
        builder.finish()
    session = Session.open(tmp_path / "a.skbv")
    assert [s.kind for s in session.sources()] == ["kbl", "pcap", "kbl", "pcap"]
    assert [(p.source, p.frame) for p in session.packets.numbered(1, 9)] == [(2, 1), (4, 1)]
    assert [row.number for row in session.packets.kernel_only(1, 9)] == ["K1", "K2"]
    first, second = session.paths.path(packet=1), session.paths.path(packet=2)
    assert [leg.calls for leg in first.legs] == [leg.calls for leg in second.legs]
    kinds = [leg.kind for leg in first.legs]
    assert sorted(kinds) == ["rx", "rx", "tx", "tx"]
    assert all(call.function != "probe" for leg in first.legs for call in leg.calls)


def test_a_life_begins_when_its_skb_came_not_when_a_reader_began_to_wait(tmp_path: Path) -> None:
    late = Story()
    late.enter(10, "__skb_recv_udp", 0, pid=9)
    late.alloc(1000, A, pid=0, context=SOFTIRQ)
    late.call("__netif_receive_skb", 2000, 3000, A, pid=0, context=SOFTIRQ, ipv4=udp4(1))
    late.leave(9000, "__skb_recv_udp", A, pid=9, flags=KBL_FLAG_SKB_IS_RET)
    session = imported(tmp_path, late, [])
    (row,) = session.packets.kernel_only(1, 1)
    assert row.ts_ns == 1000
    with open_session(session.file).connect() as db:
        found = db.exec_driver_sql("SELECT printf('%x', skb) FROM series").scalars().all()
    assert found == [f"{A:x}"]


def test_each_cpu_has_its_own_idle_task(tmp_path: Path) -> None:
    story = Story()
    for cpu in (0, 1):
        story.kbl.task(1 + cpu, cpu, 0, 0, f"swapper/{cpu}")
    story.alloc(990, A, pid=0, context=SOFTIRQ)
    story.call("ip_rcv", 1000, 2000, A, pid=0, context=SOFTIRQ, ipv4=udp4(1), skbinfo=HOST)
    story.call("udp_rcv", 3000, 4000, A, pid=0, context=SOFTIRQ, cpu=1)
    with closing(imported(tmp_path, story, [])) as session:
        (leg,) = session.paths.path(series=1).legs
        assert {call.comm for call in leg.calls if call.cpu} == {"swapper/1"}
        assert {call.comm for call in leg.calls if not call.cpu} == {"swapper/0"}
        for cpu, found in ((0, []), (1, [-1])):
            text = f'call(kbl.comm == "swapper/1" && kbl.cpu == {cpu})'
            rows = session.packets.select(text, kernel_only=True)
            assert rows is not None and rows.tolist() == found
