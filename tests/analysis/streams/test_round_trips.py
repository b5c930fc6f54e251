# SPDX-License-Identifier: MIT
"""Round trips: equal to tshark's ack_rtt; their parts add up, and are those of packets' legs."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import numpy as np
import pytest

from skbviewer.analysis.stats import STATISTICS, Chosen
from skbviewer.analysis.streams.round_trips import RoundTripRow
from skbviewer.records import Leg, Silent, resource
from skbviewer.session import Session, import_files
from tests.analysis.streams.random_tcp_streams import write_streams
from tests.lab.samples import SAMPLES

FIELDS = ("frame.number", "tcp.analysis.acks_frame", "tcp.analysis.ack_rtt", "tcp.stream")


@pytest.fixture(autouse=True)
def version() -> None:
    """Override the two versions: no log is written here, so one run is enough."""


@pytest.fixture(scope="module")
def bulk(tmp_path_factory: pytest.TempPathFactory) -> Session:
    capture = resource("samples/bulk") / "bulk.pcap"
    out = tmp_path_factory.mktemp("trips") / "bulk.skbv"
    return Session.open(import_files([capture, capture.with_suffix(".kbl")], out).path)


def tshark(capture: Path, home: Path) -> list[tuple[int, int, int, int]]:
    """Number, acknowledged frame, round trip in ns and stream of each packet that has one."""
    words = ["tshark", "-n", "-r", str(capture), "-Y", "tcp.analysis.ack_rtt", "-T", "fields"]
    for name in FIELDS:
        words += ["-e", name]
    environment = os.environ | {"HOME": str(home)}
    done = subprocess.run(words, check=True, capture_output=True, text=True, env=environment)
    found = []
    for line in done.stdout.splitlines():
        number, acked, rtt, stream = line.split("\t")
        found.append((int(number), int(acked), round(float(rtt) * 1e9), int(stream)))
    return found


def trips(session: Session, chosen: Chosen | None = None) -> list[RoundTripRow]:
    table = STATISTICS["roundtrip"].make(session.stats.scope(chosen))
    assert table.keys == RoundTripRow._fields
    return [RoundTripRow(*row) for row in table.rows]


def ours(session: Session) -> list[tuple[int, int, int, int]]:
    return [(row.packet, row.acked, row.rtt_ns, row.stream) for row in trips(session)]


@pytest.mark.parametrize("name", [sample.name for sample in SAMPLES])
def test_samples_as_tshark(name: str, tmp_path: Path) -> None:
    capture = resource(f"samples/{name}") / f"{name}.pcap"
    session = Session.open(import_files([capture], tmp_path / "s.skbv").path)
    assert ours(session) == tshark(capture, tmp_path)


@pytest.mark.parametrize("seed", [1, 2, 3, 4])
def test_faulty_streams_as_tshark(seed: int, tmp_path: Path) -> None:
    """Streams with losses, retransmissions, partial acknowledgments and reused ports."""
    capture = tmp_path / "streams.pcap"
    write_streams(capture, seed)
    session = Session.open(import_files([capture], tmp_path / "s.skbv").path)
    theirs = tshark(capture, tmp_path)
    assert len(theirs) > 50
    assert ours(session) == theirs


def leg(session: Session, packet: int, kind: str) -> Leg:
    """The first leg that sends a packet, the last one that receives it."""
    legs = [one for one in session.paths.path(packet=packet).certain_legs if one.kind == kind]
    return legs[0] if kind == "tx" else legs[-1]


def test_parts_are_those_of_the_legs(bulk: Session) -> None:
    wire = bulk.columns.array("leg", "wire_ns").astype(np.int64)
    begins = bulk.columns.array("leg", "begin_ns").astype(np.int64).tolist()

    def at_wire(one: Leg) -> int:
        return int(wire[begins.index(one.begin_ns)])

    compared = 0
    for row in trips(bulk):
        if row.wire_ns is None or row.send_ns is None or row.receive_ns is None:
            continue
        sent, arrived = (leg(bulk, row.acked, kind) for kind in ("tx", "rx"))
        answer, back = (leg(bulk, row.packet, kind) for kind in ("tx", "rx"))
        assert row.send_ns == at_wire(sent) - sent.begin_ns
        assert row.outside_ns == at_wire(back) - at_wire(sent)
        assert row.peer_ns == at_wire(answer) - at_wire(arrived)
        assert row.wire_ns + (row.peer_ns or 0) == row.outside_ns
        assert row.receive_ns == back.end_ns - at_wire(back)
        compared += 1
    assert compared > 30


def test_without_a_log_no_part_is_known(tmp_path: Path) -> None:
    capture = resource("samples/bulk") / "bulk.pcap"
    session = Session.open(import_files([capture], tmp_path / "s.skbv").path)
    assert trips(session) and all(set(row[4:]) == {None} for row in trips(session))


def test_chosen_packets_are_the_acknowledging_ones(bulk: Session) -> None:
    every = trips(bulk)
    some = np.array([row.packet for row in every[::3]])
    assert trips(bulk, Chosen(some)) == every[::3]
    assert trips(bulk, Chosen(np.zeros(0, np.int64))) == []


def test_the_filter_of_a_row_shows_both_packets(bulk: Session) -> None:
    row = trips(bulk)[5]
    filter_of = STATISTICS["roundtrip"].filter
    assert filter_of is not None
    ids = bulk.packets.listed(filter_of(row._asdict()) or "", None, False, None, Silent())
    assert ids is not None and ids.tolist() == sorted((row.acked, row.packet))
