# SPDX-License-Identifier: MIT
"""Times, lengths, streams, endpoints and conversations equal those of tshark.

Packets that quote another one's headers (ICMP's errors) are left out of the endpoints: tshark
counts the quoted addresses, too.
"""

from __future__ import annotations

import json
import re
import subprocess
from collections import Counter
from pathlib import Path

import numpy as np
import pytest

from skbviewer.analysis.stats import Chosen, conversations_by_kind, endpoints_by_kind
from skbviewer.cli.main import main
from skbviewer.gui.packets.packet_model import PacketModel
from skbviewer.records import resource
from skbviewer.session import Session, import_files
from tests.lab.samples import SAMPLES

QUOTES = "icmp.type == 3 || icmp.type == 11 || (icmpv6.type >= 1 && icmpv6.type <= 4)"
LEFT_OUT = f"{QUOTES} || ipv6.nxt == 44"  # fragments are no IPv6 endpoints of tshark
NO_REASSEMBLY = ("-o", "ip.defragment:FALSE", "-o", "ipv6.defragment:FALSE")  # as skbviewer has it
FIELDS = ("frame.number", "frame.time_epoch", "frame.time_relative", "frame.len", "frame.cap_len")
SHOWN = ("frame.number", "frame.time_relative", "frame.time_delta", "frame.len", "frame.cap_len")
STREAMS = ("tcp.stream", "udp.stream")
KINDS = {"Ethernet": "eth", "IPv4": "ip", "IPv6": "ipv6", "TCP": "tcp", "UDP": "udp"}
END = re.compile(r"^(\S+)\s+(?:(\d+)\s+)?(\d+)\s+(\d+)\s+(\d+)\s+(\d+)\s+(\d+)\s+(\d+)\s*$")
NUMBER = r"(\d+)\s+([\d,]+ \w+)\s+"  # packets and bytes
PAIR = re.compile(rf"^(\S+)\s+<->\s+(\S+)\s+{NUMBER}{NUMBER}\d+\s+[\d,]+ \w+\s+([\d.]+)\s+([\d.]+)")

End = tuple[str, int | None, tuple[int, ...]]


class Sample:
    """A sample's capture and session."""

    def __init__(self, name: str, folder: Path) -> None:
        self.pcap = resource(f"samples/{name}/{name}.pcap")
        self.file = folder / "a.skbv"
        import_files([self.pcap, self.pcap.with_suffix(".kbl")], self.file)
        self.session = Session.open(self.file)

    def tshark(self, *options: str) -> list[str]:
        """Lines of tshark's output, names not resolved."""
        command = ["tshark", "-n", *NO_REASSEMBLY, "-r", str(self.pcap), *options]
        return subprocess.run(command, capture_output=True, text=True, check=True).stdout.split(
            "\n"
        )


@pytest.fixture(scope="module", params=[sample.name for sample in SAMPLES])
def sample(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Sample:
    return Sample(request.param, tmp_path_factory.mktemp("tshark"))


def test_times_lengths_and_streams_of_all_packets(sample: Sample) -> None:
    shown = (*FIELDS, *STREAMS)
    lines = sample.tshark("-T", "fields", *(word for name in shown for word in ("-e", name)))
    rows = [line.split("\t") for line in lines if line]
    packets = sample.session.packets.numbered(1, sample.session.packets.count())
    numbers = [packet.number for packet in packets]
    streams = [sample.session.fields.values(name, numbers) for name in STREAMS]
    first = packets[0].ts_ns or 0
    assert len(rows) == len(packets)
    for packet, row, *stream in zip(packets, rows, *streams, strict=True):
        ns = packet.ts_ns or 0
        assert row[:5] == [
            str(packet.number),
            f"{ns // 10**9}.{ns % 10**9:09}",
            f"{(ns - first) // 10**9}.{(ns - first) % 10**9:09}",
            str(packet.len),
            str(packet.caplen),
        ]
        assert row[5].split(",")[0] == stream[0]
        if "," not in row[6] and packet.protocol_name not in ("ICMP", "ICMPv6"):
            assert row[6] == stream[1]


def ns(seconds: str) -> int:
    """Return tshark's seconds with nine digits as ns."""
    whole, _, part = seconds.partition(".")
    return int(whole) * 10**9 + int(part)


def test_the_printed_list_has_the_same_times_and_lengths(
    sample: Sample, capsys: pytest.CaptureFixture[str]
) -> None:
    lines = sample.tshark("-T", "fields", *(word for name in SHOWN for word in ("-e", name)))
    main(["packets", str(sample.file), "--json"])
    packets = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    numbers = [packet["number"] for packet in packets]
    deltas = sample.session.fields.values("frame.time_delta", numbers)
    shown = [
        (packet["number"], packet["relative_ns"], ns(delta), packet["len"], packet["caplen"])
        for packet, delta in zip(packets, deltas, strict=True)
    ]
    theirs = [line.split("\t") for line in lines if line]
    assert shown == [(int(n), ns(t), ns(d), int(size), int(cap)) for n, t, d, size, cap in theirs]


@pytest.mark.usefixtures("qapp")
def test_the_window_s_columns_have_the_same_times_and_lengths(sample: Sample) -> None:
    lines = sample.tshark("-T", "fields", *(word for name in SHOWN for word in ("-e", name)))
    model = PacketModel()
    model.show(sample.session)
    columns = [model.column_of(key) for key in ("number", "time", "length")]
    theirs = [line.split("\t") for line in lines if line]
    assert model.rowCount() == len(theirs)
    for position, (number, time, _, size, _) in enumerate(theirs):
        shown = [model.text(position, column).replace(",", "") for column in columns]
        assert shown == [number, time, size]


def counted(sample: Sample) -> np.ndarray[tuple[int], np.dtype[np.int64]]:
    """The packets without those that quote others."""
    found = sample.session.packets.listed(f"!({LEFT_OUT})")
    every = np.arange(1, sample.session.packets.count() + 1)
    return every if found is None else found


@pytest.mark.parametrize("kind", KINDS)
def test_endpoints(sample: Sample, kind: str) -> None:
    table = f"endpoints,{KINDS[kind]},!({LEFT_OUT})"
    theirs = Counter[End]()
    for line in sample.tshark("-q", "-z", table):
        match = END.match(line.replace("ff:ff:ff:ff:ff:ff", "Broadcast"))
        if match is not None:
            name, port, *numbers = match.groups()
            theirs[name, int(port) if port else None, tuple(map(int, numbers))] += 1
    ours = Counter[End](
        (row.address, row.port, tuple(row[2:]))
        for row in endpoints_by_kind(sample.session.stats.scope(Chosen(counted(sample))))[kind]
    )
    assert ours == theirs


def _bytes(text: str, ours: int) -> int:
    """Parse tshark's size with its unit; return ours if rounding explains the difference."""
    number, unit = text.split()
    size = {"bytes": 1, "kB": 1000, "MB": 1_000_000}[unit]
    shown = int(number.replace(",", "")) * size
    return ours if abs(shown - ours) < size else shown


@pytest.mark.parametrize("kind", KINDS)
def test_conversations(sample: Sample, kind: str) -> None:
    """Packets and bytes each way, when it began, and how long it lasted."""
    table = f"conv,{KINDS[kind]},!({LEFT_OUT})"
    rows = conversations_by_kind(sample.session.stats.scope(Chosen(counted(sample))))[kind]
    ours: dict[frozenset[str], list[tuple[dict[str, tuple[int, int]], int, int]]] = {}
    first = sample.session.packets.numbered(1, 1)[0].ts_ns or 0
    for row in rows:
        a, b = (
            address if port is None else f"{address}:{port}"
            for address, port in ((row.address_a, row.port_a), (row.address_b, row.port_b))
        )
        ways = {a: (row.packets_ab, row.bytes_ab), b: (row.packets_ba, row.bytes_ba)}
        ours.setdefault(frozenset(ways), []).append((ways, row.begin_ns - first, row.dur_ns))
    found = 0
    for line in sample.tshark("-q", "-z", table):
        match = PAIR.match(line.replace("ff:ff:ff:ff:ff:ff", "Broadcast"))
        if match is None:
            continue
        a, b, back, back_bytes, onward, onward_bytes, begin, dur = match.groups()
        found += 1
        mine = ours[frozenset({a, b})]
        one = next(each for each in mine if f"{each[1] / 1e9:.9f}" == begin)
        ways, _, lasted = one
        assert ways[a] == (int(onward), _bytes(onward_bytes, ways[a][1]))
        assert ways[b] == (int(back), _bytes(back_bytes, ways[b][1]))
        assert f"{lasted / 1e9:.4f}" == dur
    assert found == len(rows)
