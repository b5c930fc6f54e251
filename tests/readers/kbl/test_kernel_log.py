# SPDX-License-Identifier: MIT
"""KBLs: columns of every record kind, tables, versions, damage at every place."""

from __future__ import annotations

import struct
from ipaddress import IPv4Address, IPv6Address
from pathlib import Path
from typing import Any

import pytest

from skbviewer.readers import read
from skbviewer.records import BadInput, ClockTriple, Hole, KernelLog, Silent
from skbviewer.records import kbl_layout as kbl
from tests.readers.build_kbl import STEXT, Ipv4, Ipv6, KblBuilder, SkbInfo, chunk_bytes

SKB = 0xFFFF888000001000
IDENTITY4 = Ipv4("10.9.0.1", "10.9.0.2", 0xFFFF, 6, 1000, 7, 0xFFFFFFFF, 5, 0x12, 60)
ORDERS = pytest.mark.parametrize("order", ["<", ">"])


def signed(number: int) -> int:
    return number - (1 << 64) if number >> 63 else number


def load(path: Path, data: bytes | None = None) -> KernelLog:
    if data is not None:
        path.write_bytes(data)
    log = read(path, Silent())
    assert isinstance(log, KernelLog)
    return log


def rows(log: KernelLog) -> list[dict[str, int]]:
    names = log.records.dtype.names or ()
    return [dict(zip(names, row, strict=True)) for row in log.records[:].tolist()]


def of(row: dict[str, int], **expected: int) -> bool:
    return {name: row[name] for name in expected} == expected


@ORDERS
def test_calls(tmp_path: Path, order: str) -> None:
    build = KblBuilder()
    func = build.probe("ip_rcv")
    caller = STEXT + 0x10000 + 0x4C
    info = SkbInfo(0x0800, 3, 0xF0000001, 1500, 1448, 2, 0xFFFF888000002000)
    build.entry(100, 1, func, SKB, 7, caller, 1, ipv4=IDENTITY4, skbinfo=info)
    build.exit(130, 1, func, SKB, 7, ret=-22, context=1)
    build.entry(140, 0, func, 0, caller=STEXT - 0x10)
    log = load(build.write(tmp_path / "a.kbl", order))
    entry, call = rows(log)
    assert log.warnings == () and log.lost_records == 0
    assert of(
        entry, ts=100, kind=1, event=0, flags=0, context=1, cpu=1, func=0, pid=7,
        skb=signed(SKB), caller=signed(STEXT + 0x1004C), data=-1, exit_ts=130, exit_cpu=1, ret=-22,
        dur=-1, ifindex=3,
        netns=0xF0000001, skb_len=1500, gso_size=1448, gso_segs=2, sk=signed(0xFFFF888000002000),
        ethertype=0x800, ip_version=4, saddr_hi=0, saddr_lo=int(IPv4Address("10.9.0.1")),
        daddr_hi=0, daddr_lo=int(IPv4Address("10.9.0.2")), ip_id=0xFFFF, protocol=6,
        frag_off=0x4000, tot_len=60, sport=1000, dport=7, seq=0xFFFFFFFF, ack=5, tcp_flags=0x12,
    )  # fmt: skip
    assert of(call, ts=140, kind=1, caller=signed(STEXT - 0x10), skb=0, exit_ts=-1, exit_cpu=-1)
    assert log.symbols[signed(STEXT + 0x1004C)] == "ip_rcv+0x4c"
    assert log.symbols[signed(STEXT - 0x10)] == f"0x{STEXT - 0x10:x}"


@ORDERS
def test_ipv6_identity(tmp_path: Path, order: str) -> None:
    build = KblBuilder()
    func = build.probe("ip6_rcv")
    saddr, daddr = "2001:db8::8000:1", "fe80::1"
    build.entry(1, 0, func, SKB, ipv6=Ipv6(saddr, daddr, 17, 1, 2, 3, 4, 5, payload_len=20))
    (row,) = rows(load(build.write(tmp_path / "a.kbl", order)))
    halves = struct.unpack(">4q", IPv6Address(saddr).packed + IPv6Address(daddr).packed)
    names = ("saddr_hi", "saddr_lo", "daddr_hi", "daddr_lo")
    assert tuple(row[name] for name in names) == halves
    assert of(row, ip_version=6, protocol=17, sport=1, dport=2, tot_len=60, ip_id=-1, frag_off=-1)
    # UDP has neither; the packet reader leaves them unknown as well.
    assert of(row, seq=-1, ack=-1, tcp_flags=-1)


def test_fragments_of_ipv6(tmp_path: Path) -> None:
    build = KblBuilder()
    func = build.probe("ip6_fragment")
    whole = Ipv6("fd00::1", "fd00::2", 17, 1, 2, payload_len=1456)
    for ts, packet in enumerate(
        (whole, whole._replace(frag_id=7, frag_off=0x2000), whole._replace(frag_id=7, l4_valid=0)),
    ):
        build.entry(ts, 0, func, SKB, ipv6=packet)
    found = [(row["frag_off"], row["sport"]) for row in rows(load(build.write(tmp_path / "a.kbl")))]
    assert found == [(-1, 1), (0x2000, 1), (0, -1)]


def test_what_stands_behind_an_unread_extension_header_is_unknown(tmp_path: Path) -> None:
    """For fragments other than the first, the recorder reads all headers that exist."""
    build = KblBuilder()
    func = build.probe("ip6_rcv")
    cut = Ipv6("fd00::1", "fd00::2", 44, payload_len=1456, l4_valid=0)
    for ts, packet in enumerate((cut, cut._replace(nexthdr=60, frag_id=7, frag_off=0xB9))):
        build.entry(ts, 0, func, SKB, ipv6=packet)
    assert [row["protocol"] for row in rows(load(build.write(tmp_path / "a.kbl")))] == [-1, 60]


def test_unknown_parts_of_an_identity(tmp_path: Path) -> None:
    build = KblBuilder()
    func = build.probe("ip_queue_xmit")
    build.entry(1, 0, func, SKB, ipv4=IDENTITY4._replace(l4_valid=0, tot_len=0))
    build.entry(2, 0, func, SKB, ipv4=IDENTITY4._replace(protocol=1, sport=0x800, dport=9, seq=3))
    build.entry(3, 0, func, SKB, skbinfo=SkbInfo(ethertype=0, netns=0, ifindex=0))
    first, ping, bare = rows(load(build.write(tmp_path / "a.kbl")))
    assert of(first, ip_version=4, tot_len=-1, sport=-1, dport=-1, seq=-1, ack=-1, tcp_flags=-1)
    assert of(ping, sport=0x800, dport=9, seq=3, ack=-1, tcp_flags=-1)
    assert of(bare, ethertype=-1, netns=-1, ifindex=0, ip_version=0)


def test_first_of_two_identities_wins(tmp_path: Path) -> None:
    build = KblBuilder()
    inner = Ipv4("1.1.1.1", "2.2.2.2", 5, 17)
    slot = (kbl.KBL_EXT_IPV4, {"kind": 6, "type": 1, "ip_id": inner.ip_id})
    build.entry(1, 0, build.probe("ip_rcv"), SKB, ipv4=IDENTITY4, extra=(slot,))
    (row,) = rows(load(build.write(tmp_path / "a.kbl")))
    assert row["ip_id"] == 0xFFFF


def test_callers_that_are_no_offset(tmp_path: Path) -> None:
    build = KblBuilder()
    func = build.probe("ip_rcv")
    build.symbol(0xFFFFFFFFC0000000, "veth_xmit", "veth")
    build.entry(1, 0, func, SKB)
    in_module = kbl.KBL_FLAG_MODULE_CALLER
    build.entry(2, 0, func, SKB, caller=STEXT + 1, flags=in_module)
    build.entry(3, 0, func, SKB, caller=STEXT + 77, flags=in_module)
    log = load(build.write(tmp_path / "a.kbl"))
    assert log.records["caller"].tolist() == [0, signed(0xFFFFFFFFC0000000), 0]
    assert log.symbols == {signed(0xFFFFFFFFC0000000): "veth_xmit+0x0 [veth]"}


@ORDERS
def test_events_tasks_and_losses(tmp_path: Path, order: str) -> None:
    build = KblBuilder()
    event = kbl.KblEvent
    build.event(10, 0, event.CLONE, SKB, SKB + 0x100, pid=3, context=2)
    build.event(11, 0, event.DROP, SKB, 0x10008 << 32 | 6)
    build.task(12, 0, 40, 41, "early")
    build.task(9, 1, 40, 41, "earlier")
    build.lost(50, 1, 20, 1000)
    build.lost(60, 1, 20, 5, func=build.probe("ip_rcv"))
    log = load(build.write(tmp_path / "a.kbl", order))
    named, clone, drop, _, buffer, missed = rows(log)
    assert of(named, ts=9, kind=4, event=event.TASK, pid=41, data=40, skb=0, func=-1)
    assert of(clone, event=event.CLONE, skb=signed(SKB), data=signed(SKB + 0x100), pid=3, context=2)
    assert of(drop, event=event.DROP, data=0x10008 << 32 | 6)
    assert of(buffer, ts=50, kind=5, data=1000, dur=30, func=-1, pid=-1, cpu=1)
    assert of(missed, ts=60, kind=5, data=5, dur=40, func=0)
    assert log.tasks == {41: "early"}
    assert log.symbols == {signed(STEXT + 0x10008): "ip_rcv+0x8"}
    # Without a COUNTERS chunk the LOST records tell.
    assert log.lost_records == 1005


def test_time_order_and_ordinals(tmp_path: Path) -> None:
    build = KblBuilder(per_chunk=2)
    for cpu in (1, 0):
        for ts in (5, 5, 7):
            build.event(ts, cpu, kbl.KblEvent.FREE, SKB)
    log = load(build.write(tmp_path / "a.kbl"))
    found = [(row["ts"], row["cpu"], row["ordinal"]) for row in rows(log)]
    assert found == [(5, 0, 0), (5, 0, 1), (5, 1, 3), (5, 1, 4), (7, 0, 2), (7, 1, 5)]


@ORDERS
def test_tables(tmp_path: Path, order: str) -> None:
    build = KblBuilder(hostname=b"host", boot_id=list(range(16)))
    build.probe("ip_rcv", event=3, module="veth", arg=2, ret=1, error=-2, hits=9, missed=4)
    build.probe("gone", addr=0, arg=0xFF, flags=kbl.KBL_PROBE_INNER)
    build.clock(2000, 5000, 2500, 7)
    build.clock(1000, 4000)
    build.device(0xF0000000, 2, "veth0")
    build.counters = {"written": 0, "lost": 30, "missed": 4, "nested": 1}
    build.meta = {"recorder": "a=b"}
    log = load(build.write(tmp_path / "a.kbl", order))
    assert log.probes[0] == (0, "ip_rcv", "veth", STEXT + 0x10000, 2, True, 3, -2, 9, 4, False)
    assert log.probes[1][:5] == (1, "gone", "", 0, -1) and log.probes[1].inner
    assert log.clock == (ClockTriple(1000, 4000, 1000, 50), ClockTriple(2000, 5000, 2500, 7))
    assert log.devices == {(0xF0000000, 2): "veth0"}
    assert (log.release, log.hostname, log.arch) == ("6.1.0-test", "host", "x86_64")
    assert (log.version, log.stext, log.lost_records) == (2, STEXT, 35)
    assert log.meta["recorder"] == "a=b"
    assert log.meta["counters.nested"] == "1"
    assert log.meta["boot_id"] == bytes(range(16)).hex()
    reasons = "30 buffers full, 4 missed hits, 1 nested hit"
    assert any(f"35 records are lost ({reasons})" in w for w in log.warnings)
    assert any("the file has no records" in w for w in log.warnings)


def test_losses_of_a_file_without_its_last_counters(tmp_path: Path) -> None:
    build = KblBuilder()
    build.counters = {"written": 9, "lost": 3, "missed": 4, "nested": 0}
    build.lost(5000, 0, 2000, 17)
    log = load(build.write(tmp_path / "a.kbl"))
    assert log.lost_records == 21
    reasons = "17 buffers full, 4 missed hits, 0 nested hits"
    assert any(f"21 records are lost ({reasons})" in w for w in log.warnings)


def test_a_symbol_without_a_name_ends_the_one_before(tmp_path: Path) -> None:
    build = KblBuilder()
    for offset, name in ((0x1000, "ip_rcv"), (0x1100, ""), (0x2000, "ip_output")):
        build.symbol(STEXT + offset, name)
    for number, offset in enumerate((0x10FF, 0x1100, 0x2001)):
        build.entry(number, 0, build.probe(f"f{number}"), SKB, caller=STEXT + offset)
    log = load(build.write(tmp_path / "a.kbl"))
    named = [log.symbols[caller] for caller in log.records["caller"].tolist()]
    assert named == ["ip_rcv+0xff", f"0x{STEXT + 0x1100:x}", "ip_output+0x1"]


def test_a_grown_string_table_is_written_anew(tmp_path: Path) -> None:
    build = KblBuilder()
    build.probe("ip_rcv")
    grown = bytes(build._strings) + b"more\0"
    data = build.to_bytes() + chunk_bytes(kbl.KblChunkType.STRINGS, grown)
    assert load(tmp_path / "a.kbl", data).probes[0].name == "ip_rcv"


def test_header_clock_where_no_other_is(tmp_path: Path) -> None:
    log = load(KblBuilder().write(tmp_path / "a.kbl"))
    assert log.clock == (ClockTriple(1_000_000_000, 1_700_000_001_000_000_000, -1, -1),)


@ORDERS
@pytest.mark.parametrize(
    ("version", "why"),
    [
        (4, "version 4 is newer than this program reads (3)"),
        (0xFFFF, "version 65535 is newer than this program reads (3)"),
        (1, "version 1 is not supported yet"),
    ],
)
def test_other_versions(tmp_path: Path, order: str, version: int, why: str) -> None:
    with pytest.raises(BadInput) as caught:
        load(KblBuilder(version).write(tmp_path / "a.kbl", order))
    assert caught.value.why == why


def small(**options: Any) -> KblBuilder:
    """Six records in three chunks of one CPU, and tables."""
    build = KblBuilder(per_chunk=2, **options)
    func = build.probe("ip_rcv")
    for ts in range(0, 60, 20):
        build.entry(ts, 0, func, SKB, ipv4=IDENTITY4)
        build.exit(ts + 10, 0, func, SKB)
    return build


def chunk_places(data: bytes) -> list[int]:
    magic, places, at = struct.pack("<I", kbl.KBL_CHUNK_MAGIC), [], 0
    while (at := data.find(magic, at)) >= 0:
        places.append(at)
        at += 1
    return places


def test_cut_at_every_byte(tmp_path: Path) -> None:
    data, path = small().to_bytes(), tmp_path / "a.kbl"
    places = chunk_places(data)
    ends = places[4:7]  # of the three RECORDS chunks, after STRINGS, PROBES and SYMBOLS
    assert len(places) == 7
    for size in range(4, len(data)):
        if size < kbl.KBL_FILE_HEADER_SIZE:
            with pytest.raises(BadInput):
                load(path, data[:size])
            continue
        log = load(path, data[:size])
        assert len(log.records) == sum(end <= size for end in ends)
        assert f"{path}: recording ended without a clean stop" in log.warnings
        cut = [line for line in log.warnings if "cut in the middle" in line]
        last = max([200, *(place for place in places if place <= size)])
        assert len(cut) == (0 if size in (200, *places) else 1)
        assert all(f"at byte {last}: " in line for line in cut)


def test_damage_anywhere_is_reported_and_the_rest_kept(tmp_path: Path) -> None:
    data, path = small().to_bytes(), tmp_path / "a.kbl"
    places = [*chunk_places(data), len(data)]
    for at in range(places[0], len(data)):
        damaged = bytearray(data)
        damaged[at] ^= 0x55
        log = load(path, bytes(damaged))
        number = max(n for n, place in enumerate(places) if place <= at)
        size = places[number + 1] - places[number]
        assert any(
            f"at byte {places[number]}: " in line and f"; {size} bytes skipped" in line
            for line in log.warnings
        ), at
        in_records = number in (3, 4, 5)
        assert len(log.records) == (2 if in_records else 3)
        in_payload = at >= places[number] + kbl.KBL_CHUNK_HEADER_SIZE
        if in_records and in_payload:
            assert log.lost_records == sum(hole.lost for hole in log.holes) == 2
        elif in_records and number < 5:  # nobody can miss a last chunk without its header
            assert log.lost_records == sum(hole.lost for hole in log.holes) == 1


def test_missing_and_repeated_chunks(tmp_path: Path) -> None:
    data, path = small().to_bytes(), tmp_path / "a.kbl"
    places = chunk_places(data)
    second = data[places[4] : places[5]]
    missing = load(path, data.replace(second, b""))
    assert missing.lost_records == 1 and len(missing.records) == 2
    assert any("CPU 0: 1 chunk is missing, the first is number 1" in w for w in missing.warnings)
    assert missing.holes == (Hole(0, 11, 40, 1),)
    twice = load(path, data.replace(second, second * 2))
    assert len(twice.records) == 3
    assert any("chunk 1 of CPU 0 was written twice" in w for w in twice.warnings)
    assert twice.holes == ()


def slots(*kinds: tuple[int, int]) -> bytes:
    """RECORDS payload of bare slots: (kind, claimed EXT slots)."""
    return b"".join(struct.pack("<BBBBIQQQ", kind, 0, 0, ext, 0, 1, 0, 0) for kind, ext in kinds)


def records_of(tmp_path: Path, payload: bytes, items: int) -> KernelLog:
    build = KblBuilder()
    build.probe("ip_rcv")
    chunk = chunk_bytes(kbl.KblChunkType.RECORDS, payload, cpu=0, items=items)
    return load(tmp_path / "a.kbl", build.to_bytes() + chunk)


def test_malformed_ext_counts(tmp_path: Path) -> None:
    log = records_of(tmp_path, slots((6, 0), (1, 2), (6, 0), (1, 0), (6, 0), (1, 200)), 3)
    assert log.records["kind"].tolist() == [1, 1, 1]
    assert any("3 records do not have as many EXT slots" in w for w in log.warnings)
    assert any("2 EXT slots that belong to no record" in w for w in log.warnings)


def test_unknown_kinds_and_wrong_counts(tmp_path: Path) -> None:
    log = records_of(tmp_path, slots((1, 0), (99, 0), (4, 0)) + bytes(8), 7)
    assert log.records["kind"].tolist() == [1, 4]
    assert log.records["ordinal"].tolist() == [0, 2]
    assert any("1 record of an unknown kind" in w for w in log.warnings)
    assert any("1 chunk whose number of records differs" in w for w in log.warnings)


def test_unknown_probe_is_counted(tmp_path: Path) -> None:
    build = KblBuilder()
    build.entry(1, 0, 5, SKB)
    log = load(build.write(tmp_path / "a.kbl"))
    assert any("1 record names probes that are not in the probe table" in w for w in log.warnings)
    assert any("no symbol table" in w for w in log.warnings)


def test_hidden_symbols(tmp_path: Path) -> None:
    build = KblBuilder()
    build.symbol(0, "ip_rcv")
    build.entry(1, 0, 0, SKB)
    log = load(build.write(tmp_path / "a.kbl"))
    assert any("kptr_restrict" in w for w in log.warnings)


def test_later_header_with_more_fields(tmp_path: Path) -> None:
    data = bytearray(small().to_bytes())
    size = kbl.KBL_FILE_HEADER_SIZE
    data[6:8] = struct.pack("<H", size + 24)
    data[size:size] = bytes(24)
    assert len(load(tmp_path / "a.kbl", bytes(data)).records) == 3
    data[6:8] = struct.pack("<H", size - 1)
    with pytest.raises(BadInput, match="too short"):
        load(tmp_path / "a.kbl", bytes(data))


def test_bundled_recording() -> None:
    """In a real recording, no record is lost, and all functions have names."""
    sample = Path(__file__).parents[3] / "resources" / "samples" / "handshake" / "handshake.kbl"
    log = load(sample)
    assert log.warnings == () and log.lost_records == 0
    assert len(set(log.records["ordinal"].tolist())) == int(log.meta["counters.written"])
    assert (log.records["pid"][log.records["kind"] != kbl.KblKind.LOST] >= 0).all()
    assert not any(text.startswith("0x") for text in log.symbols.values())
    entries = log.records[log.records["kind"] == kbl.KblKind.ENTRY]
    assert set(entries["func"].tolist()) <= set(log.probes)
    assert set(log.records["cpu"].tolist()) <= set(range(int(log.meta["nr_cpus"])))
