# SPDX-License-Identifier: MIT
"""Earlier copies of TCP segments, compared with a search packet by packet."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pytest

from skbviewer.analysis.fields.tcp_segment_keys import (
    kernel_only_keys,
    packet_keys,
    port_number,
    sequence_number,
)
from skbviewer.analysis.streams.tcp_segment_copies import earlier_copies
from skbviewer.records import resource
from skbviewer.records.protocols import TCP
from skbviewer.session import Session, open_files

KEY = ("ip_version", "saddr_hi", "saddr_lo", "daddr_hi", "daddr_lo", "sport", "dport", "seq")


@pytest.fixture(scope="module", params=["bulk", "drops", "nat"])
def session(request: pytest.FixtureRequest) -> Iterator[Session]:
    log = resource(f"samples/{request.param}/{request.param}.kbl")
    session = open_files([log, log.with_suffix(".pcap")])
    yield session
    session.close()


def _keys(session: Session, table: str) -> list[tuple[int, ...]]:
    columns = (session.columns.array(table, name).tolist() for name in KEY)
    return list(zip(*columns, strict=True))


def _slow(session: Session) -> list[int]:
    """The nearest earlier copy of each packet: -n for K<n>, which may have any length."""
    columns, clock = session.columns, session.timebase()
    rows = session.packets.numbered(1, session.packets.count())
    packets, lives = _keys(session, "packet"), _keys(session, "series")
    of_packet, of_life = columns.array("packet", "protocol"), columns.array("series", "protocol")
    payload = columns.array("packet", "payload").tolist()
    times = clock.to_session(rows[0].source, columns.array("packet", "ts").astype(np.int64))
    (log,) = (one.id for one in session.sources() if one.kind.is_log)
    begin = clock.to_session(log, columns.array("series", "begin_ns").astype(np.int64))
    number = columns.array("series", "kernel_only").tolist()
    found = []
    for at, key in enumerate(packets):
        others: list[tuple[float, int]] = [
            (earlier, earlier + 1)
            for earlier in range(at)
            if packets[earlier] == key
            and of_packet[earlier] == TCP
            and payload[earlier] == payload[at]
        ]
        others += [
            (int(np.searchsorted(np.sort(times), begin[s])) - 0.5, -number[s])
            for s in range(len(lives))
            if number[s] > 0 and lives[s] == key and of_life[s] == TCP
        ]
        earlier = [one for one in others if one[0] < at]
        found.append(max(earlier)[1] if earlier and of_packet[at] == TCP else 0)
    return found


def test_copies_are_those_of_a_slow_search(session: Session) -> None:
    scope = session.stats.scope()
    packets = np.arange(1, session.packets.count() + 1)
    wanted = _slow(session)
    assert earlier_copies(scope, packets).tolist() == wanted
    some = np.flatnonzero(np.array(wanted) != 0)[:3] + 1
    assert earlier_copies(scope, some).tolist() == [wanted[n - 1] for n in some.tolist()]


@pytest.mark.parametrize("kept", [True, False])
def test_keys_find_all_rows_with_equal_numbers(session: Session, kept: bool) -> None:
    data = session.stats.scope().fields if kept else None
    for table, keys in (("packet", packet_keys), ("series", kernel_only_keys)):
        sport, dport, seq = (session.columns.array(table, name) for name in KEY[-3:])
        listed = np.ones(len(seq), np.bool_)
        if table == "series":
            listed = session.columns.array("series", "kernel_only") > 0
        made = keys(session.columns, data)
        assert (keys(session.columns, data) is made) == kept
        for row in np.flatnonzero(listed)[::7].tolist():
            one = slice(row, row + 1)
            ports = port_number(sport[one], dport[one])
            same = listed & (sport == sport[row]) & (dport == dport[row])
            assert set(np.flatnonzero(same)) <= set(made.with_ports(ports).tolist())
            found = made.like(ports, sequence_number(seq[one])).tolist()
            assert set(np.flatnonzero(same & (seq == seq[row]))) <= set(found)
            assert found == sorted(found)
