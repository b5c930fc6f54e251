# SPDX-License-Identifier: MIT
"""Kept, lost and missed calls sum up to those made; carriers and sleepers are exact."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from skbviewer.records import kbl_layout as layout
from tests.lab.columns import Columns, columns, count_torn, field
from tests.lab.fixture import Lab
from tests.lab.fixture import lab as lab
from tests.lab.kbl_check import SLOT, Kbl, Kind, Record, probes, read

pytestmark = pytest.mark.lab

CONTEXTS = {
    "task": layout.KblContext.TASK,
    "softirq": layout.KblContext.SOFTIRQ,
    "hrtimer": layout.KblContext.HARDIRQ,
    "irq_work": layout.KblContext.HARDIRQ,
    "ipi": layout.KblContext.HARDIRQ,
}
LISTED, RECORDED = 70, layout.KBL_MAX_CARRIED
PORTS = (1111, 2222)


def stats(path: Path) -> dict[str, int]:
    """The lines "name value" of a state file."""
    pairs = [line.split() for line in path.read_text().splitlines() if not line.startswith("#")]
    return {words[0]: int(words[1]) for words in pairs if len(words) == 2}


def left(folder: Path, name: str) -> Columns:
    """What is left in both CPUs' buffers; nothing of it is torn."""
    arrays = [
        np.fromfile(folder / f"exact-{name}.cpu{n}", np.uint8).reshape(-1, SLOT) for n in (0, 1)
    ]
    assert [count_torn(array) for array in arrays if len(array)] == [0 for a in arrays if len(a)]
    cpus = np.repeat(np.array([0, 1], np.int64), [len(array) for array in arrays])
    return columns(np.concatenate(arrays), cpus)


def kept(records: Columns) -> int:
    """Calls that were recorded: only kbltest_call() was armed."""
    return int(np.count_nonzero((records.kind == Kind.CALL) | (records.kind == Kind.EXIT)))


@pytest.mark.parametrize("name", [*CONTEXTS, "mixed", "tiny", "sleep"])
def test_kept_lost_and_missed_are_all_calls(lab: Lab, name: str) -> None:
    said = stats(lab.out / f"exact-{name}.stats")
    assert said["calls"] >= (5 if name == "sleep" else 40_000)
    records = left(lab.out, name)
    parts = [said[part] for part in ("lost", "missed", "nested", "filtered", "open")]
    apart = said["calls"] - kept(records) - sum(parts)
    # On a busy machine 2 of 16,142 misses were not counted on 6.1, where two CPUs add to one
    # counter without a lock: the likely cause, not proved.
    assert 0 <= apart <= (said["missed"] // 1000 if lab.series == "6.1" else 0)
    assert len(records.kind) == said["written"]


def lost_by_marks(records: Columns, reason: layout.KblLost) -> int:
    """How many records the LOST records of a reason tell of."""
    lost = (records.kind == Kind.LOST) & (records.second == reason)
    return int(field(records.slots[records.at[lost]], layout.KBL_LOST_SLOT, "count").sum())


@pytest.mark.parametrize("name", [*CONTEXTS, "mixed", "tiny"])
def test_each_loss_is_marked_with_its_time(lab: Lab, name: str) -> None:
    said, records = stats(lab.out / f"exact-{name}.stats"), left(lab.out, name)
    assert lost_by_marks(records, layout.KblLost.BUFFER) == said["lost"]
    assert lost_by_marks(records, layout.KblLost.NESTED) == said["nested"]


@pytest.mark.parametrize("name", [*CONTEXTS, "mixed"])
def test_large_buffers_lose_nothing(lab: Lab, name: str) -> None:
    said = stats(lab.out / f"exact-{name}.stats")
    assert said["lost"] == said["open"] == said["filtered"] == 0
    # Where the emulator's CPU stood still in a kprobe's handler, its timer makes up for that at
    # once, and a kretprobe misses all of it: 0 of 298,000 calls on a quiet machine, 15,072 on one
    # that is not.
    few = said["calls"] // (4 if lab.series == "6.1" else 20)
    assert said["missed"] + said["nested"] < few


@pytest.mark.parametrize("name", CONTEXTS)
def test_context_is_that_of_the_caller(lab: Lab, name: str) -> None:
    records = left(lab.out, name)
    call = records.kind == Kind.CALL
    context = records.context[call]
    if name == "ipi":  # an idle CPU that polls runs what it is asked in its idle thread
        context = context[context != layout.KblContext.TASK]
    assert set(context.tolist()) == {CONTEXTS[name]}
    assert np.bincount(records.entry_cpu[call]).min() > 15_000
    assert (records.entry_cpu[call] == records.cpu[call]).all()


def test_calls_have_their_events_though_the_table_of_open_calls_is_full(lab: Lab) -> None:
    said, records = stats(lab.out / "exact-full.stats"), left(lab.out, "full")
    assert said["lost"] == 0
    assert said["unpaired"] + said["missed"] + said["nested"] >= 1000 < 2 * said["unpaired"]
    made = (records.kind == Kind.EXIT) & (records.cpu == 0)
    merged = (records.kind == Kind.EVENT) & (records.second == layout.KblEvent.GRO_MERGE)
    assert records.skb[made].tolist() == records.skb[merged].tolist()
    assert np.count_nonzero(merged) > 500


def test_tiny_buffers_that_nobody_reads_lose_most(lab: Lab) -> None:
    said, records = stats(lab.out / "exact-tiny.stats"), left(lab.out, "tiny")
    assert said["lost"] > 0.9 * said["calls"]
    # Two buffers of two sub-buffers of 4 KiB
    assert 0 < kept(records) <= 2 * 2 * 4096 // SLOT


def test_instants_of_a_cpu_are_not_alike(lab: Lab) -> None:
    records = left(lab.out, "mixed")
    call = records.kind == Kind.CALL
    names = np.stack([records.entry_cpu[call], records.ts[call]], axis=1)
    assert len(np.unique(names, axis=0)) == np.count_nonzero(call)


@pytest.fixture
def carried(lab: Lab) -> Kbl:
    """The recording of kbltest's carriers."""
    return read(lab.out / "carry.kbl")


def call(kbl: Kbl, name: str) -> Record:
    """The one call of a function."""
    ident = probes(kbl)[f"kbltest_{name}"]["id"]
    found = [r for r in kbl.records if r.head["kind"] == Kind.CALL and r.head["func"] == ident]
    assert len(found) == 1, name
    return found[0]


def footprint(kbl: Kbl, skb: int, cpu: int, until: int) -> Record:
    """The last footprint of an skb that a CPU recorded up to an instant."""
    event = layout.KblEvent.FOOTPRINT
    return [
        r
        for r in kbl.records
        if r.head["kind"] == Kind.EVENT and r.head["event"] == event and r.cpu == cpu
        and r.head["skb"] == skb and r.head["ts"] <= until
    ][-1]  # fmt: skip


@pytest.mark.parametrize(
    ("name", "ip_id"),
    [("frag", 4), ("skbp", 3), ("ninth", 3), ("list", 100), ("queue", 100), ("four", 200)],
)
def test_packet_is_recorded_however_it_is_carried(carried: Kbl, name: str, ip_id: int) -> None:
    record = call(carried, name)
    head = record.head
    shown = footprint(carried, int(head["skb"]), int(head["entry_cpu"]), int(head["ts"]))
    assert shown.ext == (layout.KblExtType.SKB, layout.KblExtType.IPV4)
    ipv4 = shown.slots[1]
    assert ipv4["ip_id"] == ip_id
    assert (ipv4["l4_valid"], ipv4["sport"], ipv4["dport"]) == (1, *PORTS)
    assert (bytes(ipv4["saddr"]), bytes(ipv4["daddr"])) == (
        bytes([10, 8, 0, 1]),
        bytes([10, 8, 0, 2]),
    )


def test_a_header_that_moved_to_the_linear_area_is_read_again(carried: Kbl) -> None:
    """GRO copies it there from a page and then changes it."""
    lengths = []
    for name in ("frag", "merged"):
        head = call(carried, name).head
        shown = footprint(carried, int(head["skb"]), int(head["entry_cpu"]), int(head["ts"]))
        lengths.append(int(shown.slots[1]["tot_len"]))
    assert lengths == [28, 1028]


def test_return_values(carried: Kbl) -> None:
    record = call(carried, "frag")
    assert record.ext == (layout.KblExtType.CALL,)
    assert record.slots[0]["ret"] == -7
    returned = call(carried, "ret")
    assert returned.head["flags"] & layout.KBL_FLAG_SKB_IS_RET
    skb = int(returned.slots[0]["ret"]) & 0xFFFFFFFFFFFFFFFF
    assert skb == call(carried, "ninth").head["skb"] != 0
    assert call(carried, "queue").ext == ()


def test_sock_is_carried(carried: Kbl) -> None:
    head = call(carried, "sock").head
    assert head["flags"] & layout.KBL_FLAG_SOCK
    assert head["skb"] != 0
    returned = call(carried, "sock_ret").head
    assert returned["flags"] & layout.KBL_FLAG_SOCK
    assert returned["skb"] == head["skb"]


def carries(kbl: Kbl, head: np.void) -> list[Record]:
    """The packets after the first of a call."""
    return [
        r
        for r in kbl.records
        if r.head["kind"] == Kind.EVENT
        and r.head["event"] == layout.KblEvent.CARRY
        and (r.cpu, r.head["ts"]) == (head["entry_cpu"], head["ts"])
    ]


def ip_ids(kbl: Kbl, carry: list[Record]) -> list[int]:
    """The identification of each packet carried."""
    return [
        int(footprint(kbl, int(r.head["skb"]), r.cpu, int(r.head["ts"])).slots[1]["ip_id"])
        for r in carry
    ]


@pytest.mark.parametrize("name", ["list", "queue"])
def test_list_records_sixty_four_packets_and_a_count(carried: Kbl, name: str) -> None:
    carry = carries(carried, call(carried, name).head)
    assert len(carry) == RECORDED - 1
    data = [int(r.head["data"]) for r in carry]
    assert [d & 0xFFFFFFFF for d in data] == list(range(1, RECORDED))
    assert [d >> 32 for d in data] == [0] * (RECORDED - 2) + [LISTED - RECORDED]
    assert ip_ids(carried, carry) == list(range(101, 100 + RECORDED))


def test_one_call_carries_in_four_ways(carried: Kbl) -> None:
    record = call(carried, "four")
    first = footprint(
        carried, int(record.head["skb"]), int(record.head["entry_cpu"]), int(record.head["ts"])
    )
    assert first.slots[1]["ip_id"] == 200
    carry = carries(carried, record.head)
    assert ip_ids(carried, carry) == [201, 202, 203, 204, 205]
    assert [int(r.head["data"]) for r in carry] == [1, 2, 3, 4, 5]


def test_sleepers_are_open_calls(lab: Lab, carried: Kbl) -> None:
    ident = probes(carried)["kbltest_sleep"]["id"]
    open_calls = [
        r for r in carried.records
        if r.head["kind"] == Kind.ENTRY and r.head["flags"] & layout.KBL_FLAG_OPEN
    ]  # fmt: skip
    assert [int(r.head["func"]) for r in open_calls] == [ident] * 3
    assert len({int(r.head["pid"]) for r in open_calls}) == 3
    # They returned while the module was loaded anew: no calls of that module.
    assert stats(lab.out / "woken.stats")["written"] == 0
