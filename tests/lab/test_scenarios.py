# SPDX-License-Identifier: MIT
"""Recordings of every scenario on both kernels, with many functions armed, tell all."""

from __future__ import annotations

import re
from pathlib import Path

import dpkt
import numpy as np
import pytest

from skbviewer.records import kbl_layout as layout
from tests.lab.columns import Large, backward
from tests.lab.fixture import Lab, large
from tests.lab.fixture import lab as lab
from tests.lab.identity import footprint_before, footprints, frames, key_of, unrecorded
from tests.lab.kbl_check import Kind, Type, one, probes
from tests.lab.nesting import crossing

pytestmark = pytest.mark.lab

CAPTURES = ("basic", "loopback", "drops", "nat", "nat-inside", "bulk", "segments", "copies")
MANY = 1_000_000
LOOKS = 5  # that say how long one lasts
ANY = 0xFFFFFFFF  # struct kbl_lost_slot.func
ARMED = {"6.1": 480, "6.12": 1450}


@pytest.fixture
def recorded(lab: Lab) -> Large:
    """The recording of all scenarios."""
    return large(lab.series)


def counters(recorded: Large) -> np.void:
    """The last counters."""
    return one(recorded.kbl.tables[Type.COUNTERS], layout.KBL_COUNTERS)


def is_missed(recorded: Large) -> np.ndarray[tuple[int], np.dtype[np.bool_]]:
    """Which records are LOST of missed hits."""
    records = recorded.records
    of_lost = records.second == layout.KblLost.MISSED
    return np.asarray((records.kind == Kind.LOST) & of_lost, np.bool_)


def missed(recorded: Large) -> np.ndarray[tuple[int], np.dtype[np.void]]:
    """These records."""
    slots = recorded.records.slots[recorded.records.at[is_missed(recorded)]]
    return np.ascontiguousarray(slots).view(layout.KBL_LOST_SLOT).reshape(-1)


def events(recorded: Large, event: int) -> np.ndarray[tuple[int], np.dtype[np.int64]]:
    """Head indices of one event."""
    records = recorded.records
    return np.flatnonzero((records.kind == Kind.EVENT) & (records.second == event))


def test_a_million_records_and_none_is_torn(recorded: Large) -> None:
    assert recorded.torn == 0
    assert backward(recorded.records) == 0
    assert len(recorded.records.kind) > MANY
    assert counters(recorded)["written"] == len(recorded.records.kind)
    assert counters(recorded)["bytes"] == recorded.records.slots.size


def test_nothing_is_lost(recorded: Large) -> None:
    last = counters(recorded)
    assert last["lost"] == 0
    lost = recorded.records.kind == Kind.LOST
    assert np.count_nonzero(lost) <= last["missed"] + last["nested"]


def test_each_missed_hit_is_declared_with_its_function(lab: Lab, recorded: Large) -> None:
    """The module showed the counts after the recorder's end; on a busy machine there are some."""
    lines = (lab.out / "lab.missed").read_text().splitlines()
    words = [line.split() for line in lines if line[0].isdigit() or line.startswith("any")]
    shown = {ANY if func == "any" else int(func): int(count) for func, count in words}
    lost = missed(recorded)
    declared = {
        func: int(lost["count"][lost["func"] == func].sum()) for func in np.unique(lost["func"])
    }
    assert declared == shown
    assert sum(shown.values()) == counters(recorded)["missed"]
    table = {int(row["id"]): int(row["missed"]) for row in probes(recorded.kbl).values()}
    assert {func: count for func, count in table.items() if count} == {
        func: count for func, count in shown.items() if func != ANY
    }


def test_missed_hits_lie_in_about_a_tenth_of_a_second(recorded: Large) -> None:
    """A look lasts; and an emulated machine may keep the recorder from looking.

    One interrupt in a probe makes many functions miss in one look, which may be such a long one.
    """
    lost = missed(recorded)
    looks = np.unique(np.stack([lost["first_ns"], lost["ts"]]).astype(np.int64), axis=1)
    lasted = looks[1] - looks[0]
    assert (lasted > 0).all() and (lasted < 10**10).all()
    if len(lasted) >= LOOKS:
        assert np.median(lasted) < 2 * 10**8
    assert set(recorded.records.cpu[is_missed(recorded)]) <= {layout.KBL_CPU_RECORDER}


def test_many_functions_are_armed_and_the_others_say_why(lab: Lab, recorded: Large) -> None:
    table = probes(recorded.kbl).values()
    assert sum(bool(row["addr"]) for row in table) >= ARMED[lab.series]
    assert all(row["error"] < 0 for row in table if not row["addr"])


def test_hits_are_the_calls(recorded: Large) -> None:
    records = recorded.records
    entered = (records.kind == Kind.CALL) | (records.kind == Kind.ENTRY)
    ids, counts = np.unique(records.func[entered], return_counts=True)
    kept = dict(zip(ids.tolist(), counts.tolist(), strict=True))
    table = probes(recorded.kbl)
    quiet = {n for n, row in table.items() if row["hits"] and int(row["id"]) not in kept}
    assert {n: int(table[n]["hits"]) for n in quiet if not table[n]["event"]} == {}
    wrong = {
        name: (int(row["hits"]), kept[int(row["id"])])
        for name, row in table.items()
        if int(row["id"]) in kept and int(row["hits"]) != kept[int(row["id"])]
    }
    assert wrong == {}


@pytest.mark.parametrize("capture", CAPTURES)
@pytest.mark.parametrize("way", [("veth_xmit", "loopback_xmit"), ("ip_rcv",)], ids=("tx", "rx"))
def test_every_ipv4_packet_has_its_records(
    lab: Lab, recorded: Large, capture: str, way: tuple[str, ...]
) -> None:
    """But for those that the kernel's probes missed, which are counted by function.

    On 6.1 an interrupt that hits the CPU inside a kprobe's handler runs all its softirqs with
    kprobes held off (kprobe_running() in kprobe_ftrace_handler()): whole batches of packets.
    """
    pcap = lab.out / f"{capture}.pcap"
    assert sum(isinstance(frame.data, dpkt.ip.IP) for _, frame in frames(pcap)) >= 4
    table = probes(recorded.kbl)
    missed = sum(int(table[name]["missed"]) for name in way if name in table)
    assert len(unrecorded(recorded, pcap, way)) <= missed


def test_entry_and_exit_pair_up_but_for_open_calls(recorded: Large) -> None:
    records, last = recorded.records, counters(recorded)
    entry, leave = records.kind == Kind.ENTRY, records.kind == Kind.EXIT
    still = entry & (records.second & layout.KBL_FLAG_OPEN != 0)
    assert np.count_nonzero(still) == last["open"] < 50
    assert np.count_nonzero(entry & ~still) == np.count_nonzero(leave) == last["unpaired"]


def test_calls_of_one_thread_lie_inside_each_other_or_apart(recorded: Large) -> None:
    assert crossing(recorded.records) == []


def test_calls_that_carry_a_packet_have_its_footprint(recorded: Large) -> None:
    records = recorded.records
    carries = (records.kind == Kind.CALL) & (records.skb != 0)
    barred = layout.KBL_FLAG_SOCK | layout.KBL_FLAG_EXT_LOST | layout.KBL_FLAG_SKB_IS_RET
    carries &= records.second & barred == 0
    assert np.count_nonzero(carries) > MANY // 4
    assert np.count_nonzero(carries & (footprint_before(records) < 0)) == 0


def test_ports_are_recorded_as_the_capture_has_them(lab: Lab, recorded: Large) -> None:
    _, keys = footprints(recorded.records)
    sent = {
        key_of(frame.data)
        for _, frame in frames(lab.out / "basic.pcap")
        if isinstance(frame.data, dpkt.ip.IP) and isinstance(frame.data.data, dpkt.tcp.TCP)
    }
    assert len(sent) >= 9
    assert sent <= set(keys)


def arrived(pcap: Path, port: int) -> int:
    """UDP packets to a port."""
    data = [frame.data for _, frame in frames(pcap) if isinstance(frame.data, dpkt.ip.IP)]
    return sum(isinstance(ip.data, dpkt.udp.UDP) and ip.data.dport == port for ip in data)


def test_each_packet_lost_by_the_qdisc_is_a_drop_event(lab: Lab, recorded: Large) -> None:
    text = (lab.out / "netem.txt").read_text()
    found = re.search(r"Sent (\d+) bytes \d+ pkt \(dropped (\d+),", text)
    assert found is not None
    lost = 60 - arrived(lab.out / "drops.pcap", 1010)
    assert 0 < lost <= int(found[2])  # it may drop an ARP too
    # Those that arrived end at the rule of iptables.
    assert dropped_to(recorded, 1010) == 60


def dropped_to(recorded: Large, port: int) -> int:
    """DROP events of packets whose last footprint before has this UDP port."""
    records = recorded.records
    heads, keys = footprints(records)
    wanted = port.to_bytes(2, "little")
    to_port = {
        h for h, k in zip(heads.tolist(), keys, strict=True) if k[8] == 17 and k[16:18] == wanted
    }
    holder = footprint_before(records)
    return sum(holder[i] in to_port for i in events(recorded, layout.KblEvent.DROP))


def test_segments_have_parents(lab: Lab, recorded: Large) -> None:
    segments = events(recorded, layout.KblEvent.SEGMENT)
    packets = sum(1 for _ in frames(lab.out / "segments.pcap"))
    assert packets > 3000
    assert len(segments) > packets // 2
    assert (recorded.records.skb[segments] != 0).all()


def test_the_kernel_did_not_complain(lab: Lab) -> None:
    said = (lab.out / "dmesg.txt").read_text()
    assert "kbl:" in said
    assert not re.search(r"BUG|WARNING|Oops|Call Trace|refcount", said)
