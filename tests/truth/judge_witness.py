# SPDX-License-Identifier: MIT
"""What the witness in the guest saw of each skb, read from the text of its trace.

A line is `task-pid [cpu] flags seconds: event: (function+...) name=value ...`.  A line without
`mono` has its time from the trace's own stamp, in us.
"""

from __future__ import annotations

import re
import struct
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

OUTGOING, LOOPED = 4, 5  # PACKET_OUTGOING, PACKET_LOOPBACK: a socket gets none of the latter
LINE = re.compile(r"\[(\d+)\] \S+ +(\d+)\.(\d+): (\w+): ?(.*)")
PAIR = re.compile(r"(\w+)=(\{[^}]*\}|\S+)")
BIRTHS = {"born", "cloned"}
ENDS = {"freed", "released", "stolen", "kfree_skb", "consume_skb"}


class Row(NamedTuple):
    """One hit of a witness probe; unwritten fields are 0, but `paged` and `crc` are -1."""

    kind: str
    ns: int  # CLOCK_MONOTONIC
    fine: bool  # `ns` is in ns, not in us
    cpu: int
    skb: int
    values: dict[str, int]
    bytes: bytes  # from skb->data on; what is not linear may be anything

    def get(self, name: str, default: int = 0) -> int:
        """Return a value of the line."""
        return self.values.get(name, default)


class Hit(NamedTuple):
    """A packet socket was given a packet.  `skb` is the lifetime that is meant: of an outgoing
    packet the skb that dev_queue_xmit_nit was given, else the socket's own; 0 = not seen."""

    row: Row
    skb: int
    ns: int  # when that skb was seen
    outgoing: bool


class Witness(NamedTuple):
    """A witness's text, by sockets and by addresses."""

    sockets: dict[int, list[Hit]]
    bounds: dict[int, list[int]]  # address: moments, ascending, at which a lifetime began or ended
    whole: bool  # births and ends are among the events
    clones: dict[int, list[tuple[int, int]]]  # address: (when, the skb it was cloned from)
    rows: list[Row]  # of the packet sockets and of dev_queue_xmit_nit


def _number(text: str) -> int | None:
    try:
        return int(text, 0)
    except ValueError:
        return None


def _row(line: str) -> Row | None:
    found = LINE.search(line)
    if found is None:
        return None
    cpu, second, part, kind, rest = found.groups()
    values: dict[str, int] = {}
    raw = b""
    for name, text in PAIR.findall(rest):
        if name == "b":
            words = [int(word, 16) for word in text.strip("{}").split(",")]
            raw = struct.pack(f"<{len(words)}Q", *words)
        elif name == "skbaddr":
            values["skb"] = int(text, 16)
        elif (number := _number(text)) is not None:
            values[name] = number
    ns = int(second) * 1_000_000_000 + int(part.ljust(9, "0"))
    fine = "mono" in values
    return Row(kind, values.get("mono", ns), fine, int(cpu), values.get("skb", 0), values, raw)


def rows_of(path: Path) -> Iterator[Row]:
    """Yield the hits in a witness's text, in its order."""
    with path.open(encoding="utf-8", errors="replace") as lines:
        for line in lines:
            if not line.startswith("#") and (row := _row(line)) is not None:
                yield row


def read_witness(path: Path) -> Witness:
    """Return a witness's text, sorted out."""
    sockets: dict[int, list[Hit]] = {}
    bounds: dict[int, list[int]] = {}
    clones: dict[int, list[tuple[int, int]]] = {}
    nits: dict[int, Row] = {}  # the last one of each CPU
    kept: list[Row] = []
    whole = False
    for row in sorted(rows_of(path), key=lambda row: row.ns):
        if row.kind in BIRTHS or row.kind in ENDS:
            whole |= row.kind in BIRTHS
            bounds.setdefault(row.skb, []).append(row.ns)
        if row.kind == "cloned":
            clones.setdefault(row.skb, []).append((row.ns, row.get("from")))
        if row.kind == "nit":
            nits[row.cpu] = row
            kept.append(row)
        elif row.kind == "rcv" and row.get("pt") < LOOPED:
            sockets.setdefault(row.get("sock"), []).append(_hit(row, nits, clones))
            kept.append(row)
    return Witness(sockets, bounds, whole, clones, kept)


def _hit(row: Row, nits: dict[int, Row], clones: dict[int, list[tuple[int, int]]]) -> Hit:
    if row.get("pt") != OUTGOING:
        return Hit(row, row.skb, row.ns, False)
    nit = nits.get(row.cpu)
    # A clone shares its parent's data.
    if nit and nit.get("head") == row.get("head") and nit.get("if") == row.get("if"):
        return Hit(row, nit.skb, nit.ns, True)
    born = clones.get(row.skb, [])
    return Hit(row, born[-1][1] if born else 0, born[-1][0] if born else row.ns, True)
