# SPDX-License-Identifier: MIT
"""Version 3: a state is written once and holds until the next one, never beyond a hole."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from skbviewer.readers import read
from skbviewer.records import KernelLog, Silent
from skbviewer.records import kbl_layout as kbl
from tests.readers.build_kbl import STEXT, Ipv4, KblBuilder, SkbInfo, ext

SKB, OTHER, SOCK = 0xFFFF888000001000, 0xFFFF888000002000, 0xFFFF888000003000
ENTRY, EVENT = kbl.KblKind.ENTRY, kbl.KblKind.EVENT
ORDERS = pytest.mark.parametrize("order", ["<", ">"])
INFO = SkbInfo(0x0800, 3, 0xF0000001, 1500, 1448, 2, SOCK, 77)


def ip(number: int) -> Ipv4:
    return Ipv4("10.9.0.1", "10.9.0.2", number, 17, 1000, 7, tot_len=60)


def signed(number: int) -> int:
    return number - (1 << 64) if number >> 63 else number


def load(build: KblBuilder, folder: Path, order: str = "<") -> KernelLog:
    log = read(build.write(folder / "a.kbl", order), Silent())
    assert isinstance(log, KernelLog)
    return log


def rows(log: KernelLog, kind: int, *names: str) -> list[tuple[int, ...]]:
    """Columns of the records of a kind."""
    return [tuple(row) for row in log.records[list(names)][log.records["kind"] == kind].tolist()]


@ORDERS
def test_a_call_is_one_record(tmp_path: Path, order: str) -> None:
    build = KblBuilder(3)
    func = build.probe("tcp_sendmsg")
    build.task(90, 1, 40, 41, "server")
    build.footprint(100, 0, SKB, ipv4=ip(9), skbinfo=INFO)
    caller = STEXT + 0x10000 + 0x4C
    build.call(100, 1, func, SKB, 30, -(1 << 40), caller, context=0, entry_cpu=0)
    log = load(build, tmp_path, order)
    assert log.records["kind"].tolist() == [EVENT, ENTRY, EVENT]
    assert rows(log, ENTRY, "ordinal", "func", "pid", "skb") == [(2, 0, 41, signed(SKB))]
    assert rows(log, ENTRY, "ts", "cpu", "caller", "data") == [(100, 0, signed(caller), -1)]
    assert rows(log, ENTRY, "exit_ts", "exit_cpu", "ret") == [(130, 1, -(1 << 40))]
    assert rows(log, EVENT, "exit_ts", "exit_cpu") == [(-1, -1)] * 2
    footprint = ("ip_id", "protocol", "ifindex", "netns", "skb_len", "gso_segs", "mark", "sk")
    assert rows(log, ENTRY, *footprint) == [(9, 17, 3, 0xF0000001, 1500, 2, 77, signed(SOCK))]
    assert log.symbols[signed(caller)] == "tcp_sendmsg+0x4c"
    assert log.warnings == ()


def test_a_duration_of_more_than_four_seconds(tmp_path: Path) -> None:
    build = KblBuilder(3)
    func = build.probe("tcp_recvmsg")
    build.call(10, 0, func, SKB, 0xFFFFFFFE)
    build.call(20, 0, func, SKB, 0xFFFFFFFF)
    build.call(30, 0, func, SKB, 1 << 40)
    ends = rows(load(build, tmp_path), ENTRY, "exit_ts")
    assert ends == [(10 + 0xFFFFFFFE,), (20 + 0xFFFFFFFF,), (30 + (1 << 40),)]


def test_an_skb_returned_is_known(tmp_path: Path) -> None:
    build = KblBuilder(3)
    func = build.probe("skb_clone", ret=1)
    returned = kbl.KBL_FLAG_SKB_IS_RET
    build.call(10, 0, func, SKB, 5, signed(OTHER), flags=returned)
    build.call(20, 0, func, SKB, 5, flags=returned)  # there was no memory
    log = load(build, tmp_path)
    assert rows(log, ENTRY, "skb", "ret") == [(signed(SKB), signed(OTHER)), (signed(SKB), 0)]


def test_a_sock_is_no_skb(tmp_path: Path) -> None:
    build = KblBuilder(3)
    func = build.probe("tcp_sendmsg")
    build.call(10, 0, func, SOCK, 5, flags=kbl.KBL_FLAG_SOCK)
    build.entry(30, 0, func, SOCK, flags=kbl.KBL_FLAG_SOCK | kbl.KBL_FLAG_OPEN)
    log = load(build, tmp_path)
    assert rows(log, ENTRY, "skb", "sk", "exit_ts") == [
        (0, signed(SOCK), 15),
        (0, signed(SOCK), -1),
    ]


def test_rows_of_one_time_stand_in_the_order_of_cause(tmp_path: Path) -> None:
    """The stream has the events first; a CALL is written when all is over."""
    build = KblBuilder(3)
    func = build.probe("skb_clone")
    build.footprint(10, 0, SKB, skbinfo=INFO)
    build.event(10, 0, kbl.KblEvent.FREE, SKB)
    build.event(20, 0, kbl.KblEvent.CLONE, SKB, OTHER)
    build.call(10, 0, func, SKB, 10)
    log = load(build, tmp_path)
    assert log.records["kind"].tolist() == [ENTRY, EVENT, EVENT, EVENT]
    assert log.records["ordinal"].tolist() == [3, 0, 1, 2]


def test_threads_hold_on_their_cpu_until_the_next(tmp_path: Path) -> None:
    build = KblBuilder(3)
    func = build.probe("ip_rcv")
    build.call(5, 0, func, SKB, 1)
    build.task(10, 0, 1, 7)
    for ts, cpu in ((20, 0), (30, 1), (40, 0)):
        build.call(ts, cpu, func, SKB, 1)
    build.task(50, 0, 1, 8, "named")
    build.call(45, 0, func, SKB, 9)
    log = load(build, tmp_path)
    assert rows(log, ENTRY, "ts", "pid") == [(5, -1), (20, 7), (30, -1), (40, 7), (45, 8)]
    assert log.tasks == {8: "named"}


def test_a_footprint_is_that_of_the_entry_not_of_the_stream(tmp_path: Path) -> None:
    build = KblBuilder(3)
    func = build.probe("ip_rcv")
    build.footprint(10, 0, SKB, ipv4=ip(1), skbinfo=INFO)
    build.footprint(20, 0, SKB, ipv4=ip(2), skbinfo=INFO)
    build.footprint(25, 1, SKB, ipv4=ip(3), skbinfo=INFO)
    build.call(20, 0, func, SKB, 1)
    build.call(15, 0, func, SKB, 9)
    build.call(10, 0, func, SKB, 19)
    build.call(5, 0, func, SKB, 29)
    build.call(30, 0, func, OTHER, 1)
    build.call(40, 1, func, SKB, 1)
    build.call(50, 0, func, SKB, 1)
    build.footprint(60, 0, SKB, skbinfo=INFO)  # its header is gone
    build.call(60, 0, func, SKB, 1)
    found = rows(load(build, tmp_path), ENTRY, "ts", "ip_id", "ifindex")
    no, at = -1, 3
    assert found == [(5, no, no), (10, 1, at), (15, 1, at), (20, 2, at), (30, no, no),
                     (40, 3, at), (50, 2, at), (60, no, at)]  # fmt: skip


def test_a_footprint_that_could_not_be_read_is_unknown(tmp_path: Path) -> None:
    build = KblBuilder(3)
    build.footprint(10, 0, SKB, ipv4=ip(1))
    build.call(20, 0, build.probe("ip_rcv"), SKB, 1, flags=kbl.KBL_FLAG_EXT_LOST)
    assert rows(load(build, tmp_path), ENTRY, "ip_id") == [(-1,)]


def test_after_lost_records_footprints_are_unknown_until_recorded_again(tmp_path: Path) -> None:
    build = KblBuilder(3)
    func = build.probe("ip_rcv")
    build.footprint(10, 0, SKB, ipv4=ip(1))
    build.footprint(10, 1, SKB, ipv4=ip(2))
    build.lost(100, 0, 50, 9)
    build.call(40, 0, func, SKB, 100)
    build.call(60, 0, func, SKB, 100)  # what it saw may be among the lost
    build.call(60, 1, func, SKB, 100)
    build.footprint(200, 0, SKB, ipv4=ip(3))
    build.call(200, 0, func, SKB, 1)
    found = rows(load(build, tmp_path), ENTRY, "ts", "cpu", "ip_id")
    assert found == [(40, 0, 1), (60, 0, -1), (60, 1, 2), (200, 0, 3)]


def test_missed_hits_lose_no_footprint(tmp_path: Path) -> None:
    build = KblBuilder(3)
    func = build.probe("ip_rcv")
    build.footprint(10, 0, SKB, ipv4=ip(1))
    build.lost(100, 0, 50, 9, func=func)
    build.call(200, 0, func, SKB, 1)
    assert rows(load(build, tmp_path), ENTRY, "ip_id") == [(1,)]


def damage(data: bytes, number: int) -> bytes:
    """Flip a byte of the payload of RECORDS chunk `number`."""
    at = -1
    for _ in range(number + 1):
        magic = kbl.KBL_CHUNK_MAGIC.to_bytes(4, "little") + bytes([kbl.KblChunkType.RECORDS, 0])
        at = data.index(magic, at + 1)
    place = at + kbl.KBL_CHUNK_HEADER_SIZE + 8
    return data[:place] + bytes([data[place] ^ 1]) + data[place + 1 :]


def cut_out(data: bytes, number: int) -> bytes:
    magic = kbl.KBL_CHUNK_MAGIC.to_bytes(4, "little")
    places = [i for i in range(len(data)) if data[i : i + 4] == magic] + [len(data)]
    of_records = [i for i in places[:-1] if data[i + 4] == kbl.KblChunkType.RECORDS]
    begin = of_records[number]
    return data[:begin] + data[next(i for i in places if i > begin) :]


@pytest.mark.parametrize("harm", [damage, cut_out])
def test_after_a_missing_chunk_nothing_holds_until_recorded_again(
    tmp_path: Path, harm: Callable[[bytes, int], bytes]
) -> None:
    build = KblBuilder(3, per_chunk=3)
    func = build.probe("ip_rcv")
    build.task(5, 0, 1, 7)
    build.footprint(10, 0, SKB, ipv4=ip(1))
    build.call(10, 0, func, SKB, 10)
    build.footprint(30, 0, SKB, ipv4=ip(2))  # the chunk that will be missing
    build.task(40, 0, 1, 8)
    build.call(30, 0, func, SKB, 15)
    build.call(50, 0, func, SKB, 5)
    build.task(60, 0, 1, 9)
    build.call(15, 0, func, SKB, 45)  # began before the hole
    build.footprint(70, 0, SKB, ipv4=ip(3))
    build.call(70, 0, func, SKB, 5)
    path = tmp_path / "a.kbl"
    path.write_bytes(harm(build.to_bytes(), 1))
    log = read(path, Silent())
    assert isinstance(log, KernelLog)
    found = rows(log, ENTRY, "ts", "pid", "ip_id")
    assert found == [(10, 7, 1), (15, 9, 1), (50, -1, -1), (70, 9, 3)]


def test_a_call_carries_several_packets(tmp_path: Path) -> None:
    build = KblBuilder(3)
    func = build.probe("ip_list_rcv")
    build.task(1, 1, 1, 7)
    for number, skb in enumerate((SKB, OTHER, SKB + 0x100)):
        build.footprint(10, 0, skb, ipv4=ip(number))
    build.carry(10, 0, OTHER, 1)
    build.carry(10, 0, SKB + 0x100, 2, rest=5)
    build.carry(11, 0, OTHER, 1)  # its call was lost
    build.call(10, 1, func, SKB, 20, -5, STEXT + 0x10000, context=1, entry_cpu=0)
    log = load(build, tmp_path)
    entries = rows(log, ENTRY, "ts", "cpu", "skb", "ip_id", "func", "context", "pid", "data")
    assert entries == [
        (10, 0, signed(SKB), 0, func, 1, 7, -1),
        (10, 0, signed(OTHER), 1, func, 1, 7, 1),
        (10, 0, signed(SKB + 0x100), 2, func, 1, 7, 2 | 5 << 32),
    ]
    assert rows(log, ENTRY, "exit_ts", "exit_cpu", "ret") == [(30, 1, -5)] * 3
    assert sorted(rows(log, ENTRY, "ordinal")) == [(3,), (4,), (7,)]
    assert rows(log, EVENT, "ts", "event")[-1] == (11, kbl.KblEvent.CARRY)
    assert any("1 CARRY event names a call that was lost" in line for line in log.warnings)


def test_an_open_call_carries_several_packets(tmp_path: Path) -> None:
    build = KblBuilder(3)
    func = build.probe("ip_list_rcv")
    build.carry(10, 0, OTHER, 1)
    build.entry(10, 0, func, SKB, flags=kbl.KBL_FLAG_OPEN)
    log = load(build, tmp_path)
    assert rows(log, ENTRY, "skb", "func") == [(signed(SKB), func), (signed(OTHER), func)]
    assert all(flags & kbl.KBL_FLAG_OPEN for (flags,) in rows(log, ENTRY, "flags"))
    assert rows(log, ENTRY, "exit_ts") == [(-1,)] * 2


def test_events_of_the_counter(tmp_path: Path) -> None:
    build = KblBuilder(3)
    func = build.probe("ip_rcv")
    for ts, valid in ((10, 1), (20, 0)):
        slot = ext(kbl.KBL_EXT_COUNTER, kbl.KblExtType.COUNTER, valid=valid, event=3, count=1234)
        build.call(ts, 0, func, SKB, 5, extra=(slot,))
    build.call(30, 0, func, SKB, 5)
    assert rows(load(build, tmp_path), ENTRY, "counter") == [(1234,), (-1,), (-1,)]


@ORDERS
def test_details_of_a_drop(tmp_path: Path, order: str) -> None:
    build = KblBuilder(3)
    build.probe("nf_hook_slow")
    type_, drop = kbl.KblExtType.DROP, kbl.KBL_EXT_DROP
    stack = [0x10000 + 8 * n for n in range(8)]
    first = ext(drop, type_, hook=0x8000 | 2 << 8 | 1, depth=8, stack=stack[:6])
    second = ext(drop, type_, depth=8, stack=[*stack[6:], 0, 0, 0, 0])
    build.event(10, 0, kbl.KblEvent.FREE, SKB)
    build.event(20, 0, kbl.KblEvent.DROP, SKB, 3, extra=(first, second))
    build.event(30, 0, kbl.KblEvent.DROP, SKB, 3, extra=(ext(drop, type_, depth=0),))
    log = load(build, tmp_path, order)
    drops, frames = log.details.drops, log.details.frames
    assert drops.tolist() == [(1, 2 << 8 | 1, 8), (2, -1, 0)]
    assert frames["ordinal"].tolist() == [1] * 8
    assert frames["position"].tolist() == list(range(8))
    assert [log.symbols[a] for a in frames["address"].tolist()][7] == "nf_hook_slow+0x38"


@ORDERS
def test_changes_of_the_tables(tmp_path: Path, order: str) -> None:
    build = KblBuilder(3)
    types, event = kbl.KblExtType, kbl.KblEvent
    four, six = [10, 9, 0, 1] + [0] * 12, [0xFE, 0x80] + [0] * 13 + [1]
    neigh = ext(kbl.KBL_EXT_NEIGH, types.NEIGH, family=2, nud_state=2, ifindex=3, addr=four,
                lladdr=[2, 0, 0, 0, 0, 9])  # fmt: skip
    build.event(10, 0, event.NEIGH, extra=(neigh,))
    route = ext(kbl.KBL_EXT_ROUTE, types.ROUTE, family=10, prefix_len=64, ifindex=3, addr=six,
                netns=5, table=254)  # fmt: skip
    gateway = ext(kbl.KBL_EXT_ADDR, types.ADDR, family=10, addr=six)
    build.event(20, 0, event.ROUTE, extra=(route, gateway))
    build.event(30, 0, event.ROUTE, extra=(route,))
    addr = ext(kbl.KBL_EXT_ADDR, types.ADDR, family=2, prefix_len=24, ifindex=3, addr=four,
               netns=5, flags=0x1003)  # fmt: skip
    build.event(40, 0, event.ADDR, extra=(addr,))
    changes = load(build, tmp_path, order).details.changes
    assert changes["ordinal"].tolist() == [0, 1, 2, 3]
    assert changes["family"].tolist() == [2, 10, 10, 2]
    assert changes["prefix_len"].tolist() == [-1, 64, 64, 24]
    low, high = 0x0A090001, signed(0xFE80 << 48)
    assert changes["addr_hi"].tolist() == [0, high, high, 0]
    assert changes["addr_lo"].tolist() == [low, 1, 1, low]
    assert changes["gateway"].tolist() == [0, 6, 0, 0]
    assert changes["gateway_hi"].tolist()[1] == high and changes["gateway_lo"].tolist()[1] == 1
    assert changes["state"].tolist() == [2, 254, 254, 0x1003]
    assert changes["lladdr"].tolist() == [0x020000000009, -1, -1, -1]
    assert changes["netns"].tolist() == [-1, 5, 5, 5]


@ORDERS
def test_system_calls(tmp_path: Path, order: str) -> None:
    build = KblBuilder(3)
    slot = ext(kbl.KBL_EXT_SYSCALL, kbl.KblExtType.SYSCALL, family=2, fd=-1, sk=SOCK, args=[5, 6])
    build.event(10, 0, kbl.KblEvent.SYSCALL_ENTRY, 0, 44, extra=(slot,))
    calls = load(build, tmp_path, order).details.syscalls
    assert calls.tolist() == [(0, 2, -1, signed(SOCK), 5, 6)]


def test_calibration(tmp_path: Path) -> None:
    build = KblBuilder(3)
    assert load(build, tmp_path).calibration is None
    build.calibration = {"tau_empty": 90, "tau_pair": 300, "tau_nested": 280}
    assert load(build, tmp_path).calibration == (90, 280, 90, 280)
    build.calibration |= {"tau_skb_nested": 400, "tau_skb_empty": 85}
    calibration = load(build, tmp_path).calibration
    assert calibration == (90, 280, 85, 400)
    assert calibration is not None and calibration.error == 5
