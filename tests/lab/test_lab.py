# SPDX-License-Identifier: MIT
"""The guest's fresh recording is sound; a guest that fails says why."""

from __future__ import annotations

import re
import stat
from collections import Counter
from pathlib import Path

import dpkt
import numpy as np
import pytest

from skbviewer.records import kbl_layout as layout
from tests.kmod.built_module import not_exported, warnings
from tests.lab import debs, guest, initramfs
from tests.lab.fixture import SERIES, built
from tests.lab.fixture import lab_recording as lab_recording
from tests.lab.kbl_check import Kbl, Kind, Record, Type, one, probes, read, string, written_at
from tests.lab.record import MAKE_OUTPUT, Recording

pytestmark = pytest.mark.lab

OPEN = layout.KBL_FLAG_OPEN


@pytest.fixture(scope="module")
def kbl(lab_recording: Recording) -> Kbl:
    """The handshake's KBL."""
    return read(lab_recording.kbl)


def counters(kbl: Kbl) -> np.void:
    """The last counters."""
    return one(kbl.tables[Type.COUNTERS], layout.KBL_COUNTERS)


@pytest.mark.parametrize("series", SERIES)
def test_the_module_builds_without_a_warning(series: str) -> None:
    assert warnings((built(series).kmod / MAKE_OUTPUT).read_text()) == []


@pytest.mark.parametrize("series", SERIES)
def test_the_module_needs_only_what_the_kernel_exports(series: str) -> None:
    made = built(series)
    assert not_exported(made.kmod / "kbl.ko", made.kernel.headers) == set()


def test_nothing_is_lost_and_what_is_missed_is_counted(kbl: Kbl) -> None:
    last = counters(kbl)
    assert last["written"] == len(kbl.records) > 1000
    assert (last["lost"], last["nested"]) == (0, 0)
    missed = sum(int(row["missed"]) for row in probes(kbl).values())  # kretprobes: see MISSED
    assert last["missed"] == missed <= last["written"] // 100


def test_at_least_fifty_functions_are_armed_and_the_others_say_why(kbl: Kbl) -> None:
    table = probes(kbl)
    armed = [row for row in table.values() if row["addr"]]
    assert len(armed) >= 50
    assert all(row["error"] < 0 for row in table.values() if not row["addr"])
    assert not any(row["error"] for row in armed)


def test_path_of_a_packet_is_probed_and_hit(kbl: Kbl) -> None:
    table = probes(kbl)
    path = ["tcp_v4_rcv", "ip_queue_xmit", "ip_output", "__dev_queue_xmit", "veth_xmit"]
    path += ["ip_rcv", "icmp_rcv", "udp_rcv", "arp_rcv", "__netif_receive_skb_core.constprop.0"]
    assert {name: int(table[name]["hits"]) for name in path if not table[name]["hits"]} == {}
    assert string(kbl, int(table["veth_xmit"]["module"])) == "veth"


def calls(kbl: Kbl) -> list[Record]:
    """The calls that ended."""
    return [r for r in kbl.records if r.head["kind"] == Kind.CALL]


def test_hits_are_the_calls(kbl: Kbl) -> None:
    entered = Counter(
        int(r.head["func"]) for r in kbl.records if r.head["kind"] in (Kind.CALL, Kind.ENTRY)
    )
    hits = {int(row["id"]): int(row["hits"]) for row in probes(kbl).values() if row["hits"]}
    assert entered == hits


def test_records_are_in_the_order_written(kbl: Kbl) -> None:
    for cpu in {r.cpu for r in kbl.records}:
        times = [written_at(r) for r in kbl.records if r.cpu == cpu and not still_open(r)]
        assert (np.diff(np.array(times, np.int64)) >= 0).all()


def still_open(record: Record) -> bool:
    """Whether it is a call which had not returned at the end."""
    return bool(record.head["kind"] == Kind.ENTRY and record.head["flags"] & OPEN)


def test_every_footprint_says_where_the_skb_is(kbl: Kbl) -> None:
    event = layout.KblEvent.FOOTPRINT
    prints = [r for r in kbl.records if r.head["kind"] == Kind.EVENT and r.head["event"] == event]
    assert len(prints) > 100
    assert {r.ext[0] for r in prints} == {layout.KblExtType.SKB}
    assert {len(r.ext) for r in prints} >= {1, 2}


def test_every_caller_is_known(kbl: Kbl) -> None:
    size = len(kbl.tables[Type.SYMBOLS]) // layout.KBL_SYMBOL_SIZE
    addresses = np.frombuffer(kbl.tables[Type.SYMBOLS], layout.KBL_SYMBOL, size)["addr"]
    assert (np.diff(addresses.astype(np.uint64)) >= 0).all()
    entries = [r.head for r in calls(kbl)]
    assert len(entries) > 1000
    assert not any(e["flags"] & layout.KBL_FLAG_NO_CALLER for e in entries)
    for entry in entries:
        caller = int(kbl.header["stext"]) + int(entry["caller"])
        at = int(np.searchsorted(addresses, np.uint64(caller), side="right"))
        assert at > 0
        assert caller - int(addresses[at - 1]) < 1 << 16


def test_lives_are_recorded(kbl: Kbl) -> None:
    events = Counter(int(r.head["event"]) for r in kbl.records if r.head["kind"] == Kind.EVENT)
    want = layout.KblEvent
    for event in (want.ALLOC, want.CLONE, want.FREE, want.CONSUME, want.DROP, want.TASK):
        assert events[event] > 0, event


def test_tables_stand_at_the_beginning_and_the_end(kbl: Kbl) -> None:
    first = kbl.types.index(Type.RECORDS)
    assert {Type.META, Type.CLOCK, Type.STRINGS, Type.PROBES} <= set(kbl.types[:first])
    assert kbl.types[-1] == Type.END
    assert kbl.types.count(Type.CLOCK) >= 3
    names = np.frombuffer(kbl.tables[Type.DEVICES], layout.KBL_DEVICE)["name"]
    assert {b"vc", b"vs", b"lo"} == set(names)


def test_file_is_private(lab_recording: Recording) -> None:
    assert stat.S_IMODE(lab_recording.kbl.stat().st_mode) == 0o600


def test_capture_holds_the_scenario(lab_recording: Recording) -> None:
    seen: Counter[str] = Counter()
    with lab_recording.pcap.open("rb") as file:
        for _, raw in dpkt.pcap.Reader(file):
            frame = dpkt.ethernet.Ethernet(raw)
            inner = frame.data
            seen[type(inner.data if isinstance(inner, dpkt.ip.IP) else inner).__name__] += 1
    assert seen["ARP"] >= 2
    assert seen["TCP"] >= 9
    assert (seen["UDP"], seen["ICMP"]) == (2, 2)
    assert set(seen) == {"ARP", "TCP", "UDP", "ICMP"}


def test_count_ends_a_recording(lab_recording: Recording) -> None:
    kbl = read(lab_recording.counted)
    assert len(kbl.records) >= 8
    assert kbl.types[-1] == Type.END
    assert probes(kbl)["no_such_function"]["error"] == -2


def test_loss_is_recorded_where_it_happened(lab_recording: Recording) -> None:
    kbl = read(lab_recording.lossy)
    lost = [r.head for r in kbl.records if r.head["kind"] == Kind.LOST]
    assert lost
    gaps = [slot for slot in lost if slot["reason"] == layout.KblLost.BUFFER]
    assert sum(int(slot["count"]) for slot in gaps) == counters(kbl)["lost"] > 0
    assert counters(kbl)["written"] == len(kbl.records)
    assert all(slot["first_ns"] <= slot["ts"] for slot in lost)


def test_second_reader_is_refused_and_the_log_is_whole(lab_recording: Recording) -> None:
    kbl, out = read(lab_recording.only), lab_recording.only.parent
    pid = (out / "only.pid").read_text().strip()
    recorder, *cats, reader = (out / "second.txt").read_text().splitlines()
    assert recorder == f"kblrecord: another kblrecord is recording (kblrecord, pid {pid})"
    assert [line.rpartition(": ")[2] for line in cats] == ["Device or resource busy"] * 2
    assert re.fullmatch(
        r"kblrecord: .*/cpu1: another process reads .* \(sleep, pid \d+\).*", reader
    )
    assert not (out / "second.kbl").exists()
    last = counters(kbl)
    assert (last["written"], last["lost"], last["filtered"]) == (len(kbl.records), 0, 0)
    assert probes(kbl)["icmp_rcv"]["hits"] >= 8  # four requests, four replies
    assert kbl.types[-1] == Type.END


def test_of_two_recorders_at_once_one_records(lab_recording: Recording) -> None:
    out = lab_recording.race.parent
    status = {n: int((out / f"race{n}.status").read_text()) for n in (1, 2)}
    assert sorted(status.values()) == [0, 1]
    loser = min(status, key=lambda n: -status[n])
    assert "another kblrecord is recording" in (out / f"race{loser}.txt").read_text()
    assert read(lab_recording.race).types[-1] == Type.END


def test_hidden_addresses_are_an_error_that_says_what_to_do(lab_recording: Recording) -> None:
    said = lab_recording.hidden.read_text()
    assert len(said.splitlines()) == 1
    assert "kptr_restrict" in said


def test_failed_guest_raises_with_its_console(lab_recording: Recording, tmp_path: Path) -> None:
    good = built("6.1")
    broken = tmp_path / "kbl.ko"
    broken.write_bytes(b"this is no module")
    init = Path(__file__).parent / "init.sh"
    parts = initramfs.Parts(init, broken, good.programs, [lab_recording.probes])
    with pytest.raises(guest.GuestFailed, match=r"LAB FAILED: /bin/insmod /kbl.ko"):
        how = guest.Run(("+handshake",))
        guest.boot(good.kernel, initramfs.build(good.kernel, parts, tmp_path), tmp_path, how)


def test_missing_tool_is_named() -> None:
    with pytest.raises(RuntimeError, match=r"no-such-tool is missing; install .*packages.txt"):
        initramfs.tool("no-such-tool")


def test_failed_command_says_all_it_said() -> None:
    with pytest.raises(RuntimeError, match=r"sh -c .*failed:\nout\nerr"):
        debs.run("sh", "-c", "echo out; echo err >&2; exit 3")
