# SPDX-License-Identifier: MIT
"""Two hosts record one connection in 50: the same ones, with GSO and GRO on."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pytest

from skbviewer.matching import Sample, is_left_out, sample_of
from skbviewer.readers import read
from skbviewer.records import Capture, KernelLog, Packets, Silent
from skbviewer.session import Session, import_files
from tests.lab import two_hosts
from tests.lab.fixture import TIMEOUT_S, built

pytestmark = [pytest.mark.lab, pytest.mark.timeout(2400)]

RATE, TCP, UDP, FRAGMENT = 50, 6, 17, 0x1FFF
SERVER = 0x0A090002  # 10.9.0.2
Connection = tuple[int, frozenset[tuple[int, int]]]  # protocol, (address, port) of both ends


class Host(NamedTuple):
    """What one host recorded."""

    log: KernelLog
    packets: Packets
    files: tuple[Path, Path]


@pytest.fixture(scope="module")
def hosts() -> dict[str, Host]:
    found = {}
    for role, folder in two_hosts.record_sampled(built("6.12"), TIMEOUT_S).items():
        files = (folder / "sampled.pcap", folder / "sampled.kbl")
        capture, log = (read(path, Silent()) for path in files)
        assert isinstance(capture, Capture) and isinstance(log, KernelLog)
        found[role] = Host(log, capture.packets, files)
    return found


def connections(rows: Packets, only: np.ndarray) -> set[Connection]:
    """The TCP and UDP connections of the rows with ports that `only` selects."""
    protocol, sport = (np.asarray(rows[name]) for name in ("protocol", "sport"))
    only = only & np.isin(protocol, (TCP, UDP)) & (sport >= 0)
    names = ("protocol", "saddr_lo", "sport", "daddr_lo", "dport")
    columns = [np.asarray(rows[name])[only].tolist() for name in names]
    return {(p, frozenset({(a, b), (c, d)})) for p, a, b, c, d in zip(*columns, strict=True)}


def recorded(host: Host) -> set[Connection]:
    rows = host.log.records
    return connections(rows, np.asarray(rows["ip_version"]) == 4)


def test_the_rate_is_in_the_file(hosts: dict[str, Host]) -> None:
    for host in hosts.values():
        assert sample_of(host.log.meta) == Sample(RATE, 0)
        assert host.log.meta["filter"] == f"sample {RATE}/0 and (ip or arp)"


def test_both_hosts_recorded_the_same_connections(hosts: dict[str, Host]) -> None:
    client, server = (recorded(hosts[role]) for role in ("client", "server"))
    assert client == server
    kinds = Counter(protocol for protocol, _ in client)
    assert kinds[TCP] > 0 and kinds.total() > 2
    for host in hosts.values():
        chosen = connections(host.packets, ~is_left_out(host.packets, Sample(RATE, 0)))
        assert chosen == client
        everything = connections(host.packets, np.ones(len(host.packets), np.bool_))
        assert len(everything) > 400


def test_an_skb_at_the_address_of_an_accepted_one_is_judged_anew(hosts: dict[str, Host]) -> None:
    log = read(hosts["client"].files[1].with_name("received.kbl"), Silent())
    assert isinstance(log, KernelLog)
    rows = log.records
    tcp = (np.asarray(rows["ip_version"]) == 4) & (np.asarray(rows["protocol"]) == TCP)
    senders = Counter(np.asarray(rows["saddr_lo"])[tcp].tolist())
    assert senders.pop(SERVER) > 1000
    assert not senders


def test_large_skbs_were_cut_and_merged(hosts: dict[str, Host]) -> None:
    """Sampling is by the connection, so segments are chosen as the skb that they belong to."""
    tcp = {role: host.log.records for role, host in hosts.items()}
    large = {
        role: int(np.asarray(rows["gso_segs"])[np.asarray(rows["protocol"]) == TCP].max())
        for role, rows in tcp.items()
    }
    assert large["server"] > 1 and large["client"] > 1


def test_what_was_left_out_is_not_wire_only(hosts: dict[str, Host], tmp_path: Path) -> None:
    for role, host in hosts.items():
        session_file = tmp_path / f"{role}.skbv"
        import_files([*host.files], session_file)
        session = Session.open(session_file)
        info = session.info()
        assert [one["rate"] for one in info["sampling"]] == [RATE]
        verdicts = np.asarray(session.columns.array("packet", "verdict"))
        out = is_left_out(host.packets, Sample(RATE, 0))
        # Not so of ICMPv6, which has no number: an equal report was recorded at another time.
        ported = np.isin(np.asarray(host.packets["protocol"]), (TCP, UDP))
        assert set(verdicts[out & ported].tolist()) == {3}
        assert 2 not in verdicts[out]
        fragments = (np.asarray(host.packets["frag_off"]) & FRAGMENT) > 0
        ip = np.asarray(host.packets["ip_version"]) == 4
        rest = Counter(verdicts[~out & ip & ~fragments].tolist())
        assert rest[0] > 0 and rest[2] <= 2, (role, rest)
        sampled_out = verdicts == 3
        assert out[sampled_out].all()
        assert info["matches"]["sampled_out"] == int(sampled_out.sum())
