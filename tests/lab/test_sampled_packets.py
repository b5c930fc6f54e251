# SPDX-License-Identifier: MIT
"""One packet in four is recorded, where nothing segments, merges or rewrites packets."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from skbviewer.matching import TX, Sample, is_left_out, sample_of
from skbviewer.readers import read
from skbviewer.records import Capture, KernelLog, Packets, Silent
from skbviewer.session import Session, import_files
from tests.lab import guest
from tests.lab.fixture import TIMEOUT_S, built
from tests.lab.kbl_check import Kind, probes
from tests.lab.kbl_check import read as read_slots
from tests.lab.record import run

pytestmark = [pytest.mark.lab, pytest.mark.timeout(1800)]

SAMPLE = Sample(4, 0, True)
ICMP, TCP, UDP, FRAGMENT = 1, 6, 17, 0x3FFF
EXACT, SAMPLED_OUT = 0, 3
BURST = 9  # datagrams to this port have equal headers: all of them are chosen, or none
KEY = ("protocol", "saddr_lo", "daddr_lo", "ip_id", "frag_off", "sport", "dport", "seq")
Keys = set[tuple[int, ...]]


@pytest.fixture(scope="module")
def out() -> Path:
    steps = guest.Run(("packets",), timeout_s=TIMEOUT_S)
    return run(built("6.12"), steps, "packets")


@pytest.fixture(scope="module")
def packets(out: Path) -> Packets:
    capture = read(out / "packets.pcap", Silent())
    assert isinstance(capture, Capture)
    return capture.packets


@pytest.fixture(scope="module")
def session(out: Path, tmp_path_factory: pytest.TempPathFactory) -> Session:
    file = tmp_path_factory.mktemp("packets") / "packets.skbv"
    import_files([out / "packets.pcap", out / "packets.kbl"], file)
    return Session.open(file)


def log_of(path: Path) -> KernelLog:
    log = read(path, Silent())
    assert isinstance(log, KernelLog)
    return log


def keys(rows: Packets, only: np.ndarray) -> Keys:
    """The IPv4 packets that `only` selects, by what no host on the way changes."""
    only = only & (np.asarray(rows["ip_version"]) == 4)
    columns = [np.asarray(rows[name])[only].tolist() for name in KEY]
    return set(zip(*columns, strict=True))


def verdicts(session: Session) -> np.ndarray:
    return np.asarray(session.columns.array("packet", "verdict"))


@pytest.mark.parametrize(
    ("what", "reason"),
    [
        ("merging", "lo merges packets (ethtool -K lo gro off"),
        ("segmenting", "lo segments packets (ethtool -K lo tso off)"),
        ("large", "lo lets TCP send several packets as one (ip link set lo gso_max_segs 1)"),
        ("nat", "NAT rewrites packets"),
        ("again", "vc merges packets (ethtool -K vc gro off"),
    ],
)
def test_the_refusal_says_why(out: Path, what: str, reason: str) -> None:
    said = (out / f"packets-{what}").read_text()
    assert said.count("\n") == 1
    assert said.startswith("kblrecord: the kernel module refuses 'sample-packets 4/0' in ")
    assert ": Operation not supported: filter: packets cannot be sampled: in network " in said
    assert reason in said


def test_only_the_chosen_packets_are_recorded(out: Path, packets: Packets) -> None:
    log = log_of(out / "packets.kbl")
    assert sample_of(log.meta) == SAMPLE
    left_out = is_left_out(packets, SAMPLE)
    rows = log.records
    # Of a datagram that is cut later, the large skb is recorded, too.
    fragments = (np.asarray(packets["frag_off"]) & FRAGMENT) > 0
    whole = {key[:4] for key in keys(packets, fragments & ~left_out)}
    recorded = keys(rows, np.asarray(rows["ethertype"]) == 0x0800)
    chosen = keys(packets, ~left_out)
    assert chosen <= recorded
    assert {key for key in recorded - chosen if key[:4] not in whole} == set()
    for protocol, least in ((ICMP, 10), (TCP, 50), (UDP, 20)):
        assert sum(key[0] == protocol for key in chosen) >= least
    assert len(keys(packets, left_out)) > len(chosen)


def test_every_receive_call_of_the_chosen_packets_is_recorded(out: Path, packets: Packets) -> None:
    kbl = read_slots(out / "packets.kbl")
    numbers = {int(row["id"]): name for name, row in probes(kbl).items()}
    calls = [
        numbers[int(record.head["func"])]
        for record in kbl.records
        if record.head["kind"] == Kind.CALL
    ]
    left_out, ip = is_left_out(packets, SAMPLE), np.asarray(packets["ip_version"]) == 4
    assert calls.count("ip_rcv") == int((ip & ~left_out).sum()) > 0
    assert "tcp_sendmsg" not in calls and "__tcp_transmit_skb" not in calls


def test_chosen_packets_are_exact_and_others_sampled_out(
    session: Session, packets: Packets
) -> None:
    left_out, ip = is_left_out(packets, SAMPLE), np.asarray(packets["ip_version"]) == 4
    found = verdicts(session)
    assert set(found[ip & ~left_out].tolist()) == {EXACT}
    assert set(found[ip & left_out].tolist()) == {SAMPLED_OUT}
    info = session.info()
    assert info["sampling"][0] | {"source": 0} == {"source": 0, **SAMPLE._asdict()}
    assert info["matches"]["sampled_out"] == int((ip & left_out).sum())


def test_legs_that_begin_in_a_socket_are_not_called_whole(session: Session) -> None:
    kind, gap = (np.asarray(session.columns.array("leg", name)) for name in ("kind", "gap"))
    sent = kind == TX
    assert sent.any() and (~sent).any()
    assert gap[sent].all() and not gap[~sent].any()


def test_a_device_that_begins_to_merge_is_in_the_file(out: Path, tmp_path: Path) -> None:
    assert int(log_of(out / "packets.kbl").meta["counters.sample_broken"]) == 0
    log = log_of(out / "packets-broken.kbl")
    assert int(log.meta["counters.sample_broken"]) > 0
    assert sample_of(log.meta) == SAMPLE._replace(sound=False)
    assert "the sample is incomplete" in (out / "packets-broken.said").read_text()
    assert "the sample is incomplete" not in (out / "packets.said").read_text()
    import_files([out / "packets-broken.pcap", out / "packets-broken.kbl"], tmp_path / "b.skbv")
    session = Session.open(tmp_path / "b.skbv")
    found = verdicts(session)
    assert SAMPLED_OUT not in found
    reasons = {row.reason for row in session.packets.numbered(1, len(found))
               if row.verdict == "wire-only"}  # fmt: skip
    assert reasons and all("missing" in reason for reason in reasons)
    assert session.info()["sampling"][0]["sound"] is False


def test_packets_with_equal_headers_are_chosen_together(out: Path) -> None:
    capture = read(out / "packets-broken.pcap", Silent())
    assert isinstance(capture, Capture)
    equal = np.asarray(capture.packets["dport"]) == BURST
    assert equal.sum() > 100
    assert len(set(is_left_out(capture.packets, SAMPLE)[equal].tolist())) == 1
