# SPDX-License-Identifier: MIT
"""Test the events of a known scenario: sent, queued, received, read, dropped."""

from __future__ import annotations

from collections import Counter
from typing import NamedTuple

import pytest

from skbviewer.records import kbl_layout as layout
from tests.lab.events.conftest import Events
from tests.lab.events.guest_events import Case, Symbols, ext, stack, stat, with_footprint
from tests.lab.kbl_check import Record

Event, Ext = layout.KblEvent, layout.KblExtType
PROTOCOLS = {1: "icmp", 6: "tcp", 17: "udp"}
READ_BY_ALL = (Event.RECEIVE, Event.QUEUE, Event.START_XMIT, Event.QDISC_DEQUEUE,
               Event.COPY_TO_USER, Event.DROP, Event.CONSUME)  # fmt: skip
ON_SKBS = (*READ_BY_ALL, Event.XMIT, Event.QDISC_ENQUEUE)
NF_IPV4, HOOKED = 2 << 8, 0x8000
LOCAL_IN, LOCAL_OUT = 1, 3
PING_BYTES = 84  # IP and ICMP header and the data of busybox's ping
HANDLE = 0x50000  # of the netem that the guest makes
MTU_BUDGET = 64


class Packet(NamedTuple):
    """Whom a packet is for."""

    protocol: str
    port: int


@pytest.fixture(scope="module", params=["packets", "probed"])
def case(events: Events, request: pytest.FixtureRequest) -> Case:
    return events.case(request.param)


def packet(footprint: Record | None) -> Packet:
    """Read a footprint of IPv4; a port of ICMP is 0.  ARP and IPv6 speak up when they like."""
    assert footprint is not None, "an event of an skb without its footprint"
    slot = ext(footprint, Ext.IPV4)
    if slot is None:
        return Packet("other", 0)
    protocol = PROTOCOLS[int(slot["protocol"])]
    return Packet(protocol, int(slot["dport"]) if protocol != "icmp" else 0)


def location(record: Record, symbols: Symbols) -> str:
    """The function that gave an skb back."""
    high = int(record.head["data"]) >> 32
    return symbols.name(high - (high >> 31 << 32))


def reason(record: Record, case: Case) -> str:
    """The name of a drop's reason in this kernel."""
    rows = (line.split() for line in (case.folder / "reasons").read_text().splitlines())
    names = {int(row[0]): row[1] for row in rows if row[0] != "#"}
    return names[int(record.head["data"]) & 0xFFFFFFFF]


def test_nothing_is_lost(case: Case) -> None:
    assert {name: stat(case, name) for name in ("lost", "nested", "missed")} == {
        "lost": 0, "nested": 0, "missed": 0}  # fmt: skip
    assert stat(case, "written") == len(case.records)


def test_times_of_a_cpu_do_not_go_back(case: Case) -> None:
    last: dict[int, int] = {}
    for record in case.events(*ON_SKBS, Event.NAPI_POLL):
        assert int(record.head["ts"]) > last.get(record.cpu, 0)
        last[record.cpu] = int(record.head["ts"])


def test_each_event_has_its_footprint(case: Case) -> None:
    found = Counter(int(r.head["event"]) for r, footprint in with_footprint(case, *READ_BY_ALL)
                    if footprint is not None and ext(footprint, Ext.SKB) is not None)  # fmt: skip
    assert found == Counter(int(r.head["event"]) for r in case.events(*READ_BY_ALL))
    assert all(found[event] for event in READ_BY_ALL)


def test_life_of_a_datagram(events: Events, case: Case) -> None:
    request = next(r for r, recorded in with_footprint(case, Event.QUEUE)
                   if packet(recorded) == ("udp", 7))  # fmt: skip
    skb, start = request.head["skb"], int(request.head["ts"])
    life = sorted((r for r in case.events(*ON_SKBS) if r.head["skb"] == skb),
                  key=lambda r: int(r.head["ts"]))  # fmt: skip
    recorded = [r for r in life if int(r.head["ts"]) >= start]
    end = next(i for i, r in enumerate(recorded) if r.head["event"] == Event.CONSUME)
    kinds = [Event(int(r.head["event"])) for r in recorded[: end + 1]]
    sent = [Event.QUEUE, Event.QDISC_ENQUEUE, Event.QDISC_DEQUEUE, Event.START_XMIT, Event.XMIT]
    assert [k for k in kinds if k in sent] == sent
    assert [k for k in kinds if k not in sent] == [Event.RECEIVE, Event.CONSUME]
    assert location(recorded[end], events.symbols) == "udp_recvmsg"


def test_every_send_ends(case: Case) -> None:
    begun = Counter((r.cpu, int(r.head["skb"])) for r in case.events(Event.START_XMIT))
    ended = Counter((r.cpu, int(r.head["skb"])) for r in case.events(Event.XMIT))
    assert begun == ended
    assert all(r.head["data"] == 0 for r in case.events(Event.XMIT))


def test_queue_is_named(case: Case) -> None:
    queued, sent = (list(case.events(e)) for e in (Event.QDISC_ENQUEUE, Event.QDISC_DEQUEUE))
    assert Counter(int(r.head["skb"]) for r in queued) == Counter(int(r.head["skb"]) for r in sent)
    assert {int(r.head["data"]) & 0xFFFFFFFF for r in queued + sent} == {HANDLE}
    devices = {int(r.head["data"]) >> 32 for r in queued + sent}
    assert len(devices) == 1 and 0 not in devices


def test_device_that_polls_is_recorded(events: Events, case: Case) -> None:
    server = int((events.out / "server.netns").read_text())
    polls = [r for r in case.events(Event.NAPI_POLL) if r.slots[0]["netns"] == server]
    assert polls
    for record in polls:
        work, budget = int(record.head["data"]) & 0xFFFFFFFF, int(record.head["data"]) >> 32
        assert 0 <= work <= budget == MTU_BUDGET
        assert record.slots[0]["ifindex"] > 0


def test_pings_are_read(events: Events, case: Case) -> None:
    copied = list(with_footprint(case, Event.COPY_TO_USER))
    assert [(packet(footprint), int(r.head["data"])) for r, footprint in copied] == [
        (Packet("icmp", 0), PING_BYTES)
    ] * 3
    read = Counter(location(r, events.symbols) for r in case.events(Event.CONSUME))
    assert read["raw_recvmsg"] == 3
    assert read["udp_recvmsg"] == 2
    assert read["icmp_rcv"] >= 3


@pytest.mark.parametrize(
    ("whom", "why", "hook", "frames"),
    [
        (Packet("udp", 1009), "NETFILTER_DROP", LOCAL_IN, ["nf_hook_slow", "ip_local_deliver"]),
        (Packet("udp", 1010), "NETFILTER_DROP", LOCAL_OUT, ["nf_hook_slow", "__ip_local_out"]),
        (Packet("udp", 9), "NO_SOCKET", None, ["__udp4_lib_rcv", "ip_protocol_deliver_rcu"]),
        (Packet("tcp", 9), "NO_SOCKET", None, ["tcp_v4_rcv", "ip_protocol_deliver_rcu"]),
    ],
)
def test_drop_records_why_and_where(
    events: Events, case: Case, whom: Packet, why: str, hook: int | None, frames: list[str]
) -> None:
    (record,) = [
        r for r, footprint in with_footprint(case, Event.DROP) if packet(footprint) == whom
    ]
    assert reason(record, case) == why
    names = [events.symbols.name(offset) for offset in stack(record)]
    assert names[: len(frames)] == frames
    assert location(record, events.symbols) == frames[0]
    expected = 0 if hook is None else hook | NF_IPV4 | HOOKED
    assert {int(slot["hook"]) for slot in record.slots} == {expected}
    assert len(names) == record.slots[0]["depth"] > len(frames)
    assert not [name for name in names if name.startswith("kbl_") or "rethook" in name]


def test_each_end_is_recorded_once(events: Events) -> None:
    """A probe and a tracepoint see the same end: only one of them records it."""
    case = events.case("probed")
    ends: Counter[int] = Counter()
    kinds = (Event.DROP, Event.CONSUME, Event.FREE)
    for record in sorted(case.events(*kinds), key=lambda r: int(r.head["ts"])):
        skb = int(record.head["skb"])
        if record.head["event"] != Event.FREE:
            ends[skb] += 1
            continue
        assert ends.pop(skb, 0) <= 1
    assert all(count == 1 for count in ends.values())
    probes = (case.folder / "probes").read_text()
    assert probes.count(" 1 0 ") >= 7


def test_hooks_passed_are_recorded(events: Events) -> None:
    verdicts = Counter(int(r.head["data"]) for r in events.case("probed").events(Event.NF_HOOK))
    drop, accept = 1 << 16, 2 << 16
    assert verdicts[LOCAL_IN | NF_IPV4 | drop] == verdicts[LOCAL_OUT | NF_IPV4 | drop] == 1
    assert verdicts[LOCAL_IN | NF_IPV4 | accept] > 5


def test_groups_are_switched_while_active(events: Events) -> None:
    """One ping with all off, two with net and drop on, three with net off and qdisc on."""
    case = events.case("switched")
    counts = Counter(Event(int(r.head["event"])) for r in case.events(*Event))
    assert counts[Event.QUEUE] == counts[Event.START_XMIT] == counts[Event.XMIT] == 4
    assert counts[Event.RECEIVE] == 4
    assert counts[Event.QDISC_ENQUEUE] == counts[Event.QDISC_DEQUEUE] == 3
    assert counts[Event.COPY_TO_USER] == 0
    assert counts[Event.DROP] >= 5
    state = (case.folder / "after").read_text()
    assert "qdisc on qdisc_enqueue=1 qdisc_dequeue=1" in state
    assert "net off netif_receive_skb net_dev_queue" in state
