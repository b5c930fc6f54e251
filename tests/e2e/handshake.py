# SPDX-License-Identifier: MIT
"""Read the TCP handshake from a recording of the lab's scenario, and check it.

``python -m tests.e2e.handshake`` writes the handshake's table into the sample's README.
"""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from pathlib import Path

import dpkt

from skbviewer.records import Leg, PacketPath, PacketRow, resource
from skbviewer.session import Session, import_files

HEADING = "## The handshake, seen from the kernel\n"
SAMPLE = "samples/handshake"


def handshake(session: Session) -> dict[str, PacketPath]:
    """Return SYN, SYN,ACK and ACK of the first connection with their kernel paths."""
    packets = session.packets.numbered(1, session.packets.count())
    syn = next(p for p in packets if "[SYN]" in p.info)
    synack = next(p for p in packets if "[SYN, ACK]" in p.info and p.dport == syn.sport)
    ack = next(p for p in packets if p.number > synack.number and p.sport == syn.sport)
    named = {"SYN": syn, "SYN,ACK": synack, "ACK": ack}
    return {name: session.paths.path(packet=p.number) for name, p in named.items()}


def table(paths: dict[str, PacketPath]) -> str:
    """Return the three packets side by side, as Markdown; one column a packet and leg."""
    columns = [(name, path, leg) for name, path in paths.items() for leg in path.legs]
    rows = [("", *(f"{name} {leg.kind} {leg.device}" for name, _, leg in columns))]
    rows.append(("---", *("---" for _ in columns)))
    rows += [(title, *(cell(path, leg) for _, path, leg in columns)) for title, cell in CELLS]
    return "".join(f"| {' | '.join(row)} |\n" for row in rows)


def _packet(path: PacketPath) -> PacketRow:
    assert path.packet is not None
    return path.packet


def _clock(ns: int) -> str:
    seconds, rest = divmod(ns, 10**9)
    return f"{datetime.fromtimestamp(seconds, UTC):%H:%M:%S}.{rest:09d}"


CELLS: tuple[tuple[str, Callable[[PacketPath, Leg], str]], ...] = (
    ("source / destination", lambda p, leg: f"{_packet(p).saddr} / {_packet(p).daddr}"),
    ("identification", lambda p, leg: str(_packet(p).ip_id)),
    ("protocol", lambda p, leg: str(_packet(p).protocol)),
    ("arrival time in the pcap", lambda p, leg: _clock(_packet(p).ts_ns or 0)),
    ("entry time", lambda p, leg: _clock(leg.begin_ns + leg.epoch_offset_ns)),
    ("exit time", lambda p, leg: _clock(leg.end_ns + leg.epoch_offset_ns)),
    ("functions passed", lambda p, leg: str(leg.functions)),
    ("time in the kernel", lambda p, leg: f"{(leg.kernel_ns or 0) / 1000:.3f} us"),
)


def wrong(session: Session, pcap: Path) -> list[str]:
    """Return the conditions that the lab's recording must fulfil and does not."""
    with pcap.open("rb") as file:
        frames = [dpkt.ethernet.Ethernet(data) for _, data in dpkt.pcap.UniversalReader(file)]
    rows = session.packets.numbered(1, len(frames) + 1)
    faults = [] if len(rows) == len(frames) else [f"{len(rows)} packets of {len(frames)}"]
    owner: dict[int, int] = {}
    for row, frame in zip(rows, frames, strict=False):
        if isinstance(frame.data, dpkt.ip.IP):
            faults += _wrong_packet(session, row, frame.data, owner)
    return faults


def _wrong_packet(
    session: Session, row: PacketRow, header: dpkt.ip.IP, owner: dict[int, int]
) -> list[str]:
    legs = session.paths.path(packet=row.number).legs
    faults = [] if row.verdict == "exact" else [f"packet {row.number} is {row.verdict}"]
    if [leg.kind for leg in legs] != ["tx", "rx"]:
        faults.append(f"packet {row.number} has legs {[leg.kind for leg in legs]}")
    for series in {leg.series for leg in legs}:
        if owner.setdefault(series, row.number) != row.number:
            faults.append(f"packets {owner[series]} and {row.number} share series {series}")
    if row.ip_id != header.id or row.protocol != header.p:
        faults.append(f"packet {row.number}: id {row.ip_id}, the file says {header.id}")
    return faults + _wrong_sequence(row, legs)


def _wrong_sequence(row: PacketRow, legs: Sequence[Leg]) -> list[str]:
    """Return functions that each packet must pass, in this order, in each of its legs."""
    expected = {
        "tx": ["__alloc_skb", "ip_output", "__dev_queue_xmit", "dev_hard_start_xmit", "veth_xmit"],
        "rx": ["__netif_rx", "__netif_receive_skb", "ip_rcv", "ip_local_deliver"],
    }
    faults = []
    for leg in legs:
        calls = iter(leg.calls)
        for name in expected.get(leg.kind, []):
            if not any(call.function == name for call in calls):
                faults.append(f"packet {row.number} {leg.kind}: no {name} in its place")
        backward = [
            c.function for c in leg.calls if c.exit_ns is not None and c.exit_ns < c.entry_ns
        ]
        faults += [f"packet {row.number}: {name} left before it was entered" for name in backward]
    return faults


def main() -> None:
    """Rewrite the table in the sample's README from the sample."""
    folder = resource(SAMPLE)
    with tempfile.TemporaryDirectory() as name:
        out = Path(name) / "sample.skbv"
        import_files([folder / "handshake.pcap", folder / "handshake.kbl"], out)
        text = table(handshake(Session.open(out)))
    readme = folder / "README.md"
    head = readme.read_text(encoding="utf-8").split(HEADING)[0]
    readme.write_text(f"{head}{HEADING}\n{text}", encoding="utf-8")


if __name__ == "__main__":
    main()
