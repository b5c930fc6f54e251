# SPDX-License-Identifier: MIT
"""``python -m tests.bench.generate``: a capture and a kernel log of the same made-up traffic.

Writes made.pcap, made.kbl and made.npz, the truth: by row of the capture the number of the life
that it shows (-1: a packet the kernel never saw), and by life its skb, times (ns of the kernel's
clock), and row of the capture (-1: not caught).  The same seed makes the same files.
"""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import NamedTuple

import numpy as np

from .capture_file import Sightings, sniff, write_pcap
from .log_file import Written, write_kbl
from .slots import WIRE_AT, make_calls
from .traffic import Packets, make_traffic

SEED = 20261121
EVENTS_A_PACKET = 3.68  # birth, footprint, end, and now and then a thread or a clone's original


class Generated(NamedTuple):
    """The files, and how much is in them."""

    capture: Path
    log: Path
    truth: Path
    packets: int
    written: Written


def generate(out: Path, packets: int, calls: int, seed: int = SEED) -> Generated:
    """Write the three files into the folder `out`; `calls` are traced calls altogether."""
    out.mkdir(parents=True, exist_ok=True)
    rng = np.random.default_rng(seed)
    each = calls / max(packets, 1)
    traffic = make_traffic(rng, packets, each)
    chosen = make_calls(rng, traffic, each)
    seen = sniff(rng, chosen.tap + WIRE_AT)
    made = Generated(
        out / "made.pcap",
        out / "made.kbl",
        out / "made.npz",
        len(seen.packet),
        write_kbl(out / "made.kbl", traffic, chosen),
    )
    write_pcap(made.capture, traffic, seen)
    _write_truth(made.truth, traffic, seen)
    return made


def calls_for(records: int, packets: int) -> int:
    """Return how many calls make a log of about `records` records: entry and exit are two."""
    return max(packets, round((records - EVENTS_A_PACKET * packets) / 2))


def _write_truth(path: Path, traffic: Packets, seen: Sightings) -> None:
    row = np.full(len(traffic), -1)
    known = np.flatnonzero(seen.packet >= 0)
    row[seen.packet[known]] = known
    np.savez(
        path,
        life=seen.packet,
        packet=row,
        skb=traffic["skb"],
        born=traffic["begin"],
        freed=traffic["freed"],
        original=np.where(traffic["kept"] >= 0, traffic["parent"], 0),
        original_freed=traffic["parted"],
    )


def main() -> None:
    """Read the arguments, write the files, say what is in them."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", type=Path, default=Path("build/generated"))
    parser.add_argument("--packets", type=int, default=1_000_000)
    amount = parser.add_mutually_exclusive_group()
    amount.add_argument("--records", type=int, default=10_000_000, help="entries, exits, events")
    amount.add_argument("--calls", type=int, help="traced calls")
    parser.add_argument("--seed", type=int, default=SEED)
    args = parser.parse_args()
    calls = args.calls or calls_for(args.records, args.packets)
    made = generate(args.out, args.packets, calls, args.seed)
    rows, slots, spans = made.written.rows, made.written.slots, made.written.calls
    print(f"{made.capture}: {made.packets} packets")
    print(f"{made.log}: {rows} records in {slots} slots, of them {spans} calls")
    print(f"{made.truth}: which packet is which")


if __name__ == "__main__":
    main()
