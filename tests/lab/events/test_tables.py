# SPDX-License-Identifier: MIT
"""Neighbours, addresses, routes, links, modules and the clock, as a guest changed them."""

from __future__ import annotations

from ipaddress import ip_address
from typing import NamedTuple

import pytest

from skbviewer.records import kbl_layout as layout
from tests.lab.events.conftest import Events
from tests.lab.events.guest_events import Case, ext
from tests.lab.kbl_check import Record

Event, Ext = layout.KblEvent, layout.KblExtType
SET, GONE = int(layout.KblChange.SET), int(layout.KblChange.GONE)
TABLES = (Event.NEIGH, Event.ADDR, Event.ROUTE, Event.LINK, Event.MODULE, Event.CLOCK_SET)
NUD_NONE, NUD_REACHABLE, NUD_PERMANENT = 0, 2, 128
IFF_UP = 1


class Row(NamedTuple):
    """An event's table entry, with the address as text."""

    change: int
    netns: int
    address: str
    what: tuple[object, ...]


@pytest.fixture(scope="module")
def case(events: Events) -> Case:
    return events.case("tables")


def netns(events: Events, name: str) -> int:
    """The inode number of a namespace, as the guest wrote it down."""
    return int(next(events.out.rglob(f"{name}.netns")).read_text())


def address(family: int, raw: bytes) -> str:
    """Text of an address of the log."""
    return str(ip_address(raw[: 4 if family == 2 else 16])) if family else ""


def row(record: Record) -> Row:
    """Read one event by its own EXT slot."""
    data = int(record.head["data"])
    change, space = data & 0xFFFFFFFF, data >> 32
    slot = record.slots[0]
    text = address(int(slot["family"]), bytes(slot["addr"]))
    if record.head["event"] == Event.NEIGH:
        mac = bytes(slot["lladdr"]).hex(":")
        return Row(change, space, text, (int(slot["nud_state"]), mac, int(slot["ifindex"])))
    assert int(slot["netns"]) == space
    if record.head["event"] == Event.ADDR:
        return Row(change, space, f"{text}/{slot['prefix_len']}", (int(slot["ifindex"]),))
    gateway = ext(record, Ext.ADDR)
    via = address(int(gateway["family"]), bytes(gateway["addr"])) if gateway is not None else ""
    return Row(change, space, f"{text}/{slot['prefix_len']}", (via, int(slot["table"])))


def rows(case: Case, event: layout.KblEvent, space: int, begins: str) -> list[Row]:
    """The events of one kind and namespace on an address, in order of time."""
    changes = sorted(case.events(event), key=lambda record: int(record.head["ts"]))
    return [r for r in map(row, changes) if r.netns == space and r.address.startswith(begins)]


def test_nothing_else_is_recorded(case: Case) -> None:
    assert sum(1 for _ in case.events(*TABLES, Event.TASK)) == len(case.records)
    assert all(record.head["skb"] == 0 for record in case.records)


def test_neighbour_is_learnt(events: Events, case: Case) -> None:
    changes = rows(case, Event.NEIGH, netns(events, "client"), "10.9.0.2")
    states = [(r.change, *r.what[:2]) for r in changes]
    gone = next(i for i, r in enumerate(changes) if r.change == GONE)
    assert (SET, NUD_NONE, "00:00:00:00:00:00") in states[gone + 1 :]
    assert (SET, NUD_REACHABLE, "02:00:00:00:00:02") in states[gone + 2 :]
    assert len({r.what[2] for r in changes}) == 1


def test_neighbour_by_hand(events: Events, case: Case) -> None:
    changes = rows(case, Event.NEIGH, netns(events, "client"), "10.9.0.77")
    states = [(r.change, *r.what[:2]) for r in changes]
    assert states.index((SET, NUD_PERMANENT, "02:00:00:00:00:77")) == 1
    assert changes[0].what[0] == NUD_NONE
    assert changes[-1].change == GONE


@pytest.mark.parametrize("text", ["192.0.2.1/28", "2001:db8::1/64"])
def test_address_comes_and_goes(events: Events, case: Case, text: str) -> None:
    changes = rows(case, Event.ADDR, netns(events, "client"), text)
    assert [r.change for r in changes] == [SET, GONE]


@pytest.mark.parametrize(
    ("text", "via", "table"),
    [("198.51.100.0/24", "192.0.2.2", 77), ("2001:db8:1::/48", "2001:db8::2", 254)],
)
def test_route_comes_and_goes(events: Events, case: Case, text: str, via: str, table: int) -> None:
    changes = rows(case, Event.ROUTE, netns(events, "client"), text)
    assert [(r.change, r.what) for r in changes] == [(SET, (via, table)), (GONE, (via, table))]


def test_what_was_there_is_not_recorded(events: Events, case: Case) -> None:
    for name in ("client", "server"):
        assert not rows(case, Event.ROUTE, netns(events, name), "10.9.0.")
    # The notifiers replay to the thread that registers: init's.
    assert all(record.head["pid"] != 1 for record in case.events(*TABLES))


def test_namespace_made_while_active_is_recorded(events: Events, case: Case) -> None:
    late = netns(events, "late")
    assert late not in (netns(events, "client"), netns(events, "server"))
    for event in (Event.ADDR, Event.ROUTE):
        assert rows(case, event, late, "203.0.113.")[0].change == SET


def test_link_goes_up_and_down_and_is_renamed(events: Events, case: Case) -> None:
    late = netns(events, "late")
    story: list[tuple[int, str, bool]] = []
    for record in sorted(case.events(Event.LINK), key=lambda r: int(r.head["ts"])):
        slot, name = ext(record, Ext.ADDR), ext(record, Ext.COMM)
        assert slot is not None and name is not None
        assert int(record.head["data"]) >> 32 == slot["netns"]
        if slot["netns"] == late and name["comm"] in (b"e1", b"renamed"):
            change, is_up = int(record.head["data"]) & 3, bool(slot["flags"] & IFF_UP)
            story.append((change, name["comm"].decode(), is_up))
    steps = list(dict.fromkeys(story))
    down, up = (SET, "e1", False), (SET, "e1", True)
    assert steps == [down, up, (SET, "renamed", False), (GONE, "renamed", False)]
    assert story.index(down) < story.index(up) < len(story) - 1 - story[::-1].index(down)


def test_module_comes_and_goes(case: Case) -> None:
    changes = sorted(case.events(Event.MODULE), key=lambda r: int(r.head["ts"]))
    assert [int(r.head["data"]) for r in changes] == [SET, GONE]
    assert [r.slots[0]["comm"] for r in changes] == [b"sch_netem"] * 2


def test_clock_is_set(case: Case) -> None:
    changes = sorted(case.events(Event.CLOCK_SET), key=lambda r: int(r.head["ts"]))
    real = [int(r.head["data"]) + int(r.head["ts"]) for r in changes]
    before = int((case.folder / "clock.before").read_text())
    assert [round(ns / 1e9) for ns in real] == [2_000_000_000, before]
