# SPDX-License-Identifier: MIT
"""How long retis logs take to read, next to retis' own Python package.

    .venv/bin/python -m tests.bench.retis_log [EVENTS]

Prints microseconds of CPU time for an event of a log that is made in a temporary folder.
"""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import retis as reference

from skbviewer import readers
from skbviewer.records import KernelLog, Silent
from skbviewer.session import import_files
from tests.readers import build_retis as retis
from tests.readers.build import ethernet, ipv4, udp

EVENTS, POINTS, RUNS = 200_000, 8, 3  # points of a lifetime; the fastest run counts
SYMBOLS = (
    retis.START, retis.RECEIVE, "ip_rcv", "ip_local_deliver", "udp_rcv", "ip_output",
    "nft_do_chain", "skb:consume_skb",
)  # fmt: skip
META = {"data_len": 0, "hash": 0, "ip_summed": 0, "csum": 27, "csum_level": 0, "priority": 0}
DATA_REF = {"nohdr": False, "cloned": False, "fclone": 0, "users": 1, "dataref": 1}
END = {
    "ip": {"src": "10.9.0.1", "dst": "10.9.0.2", "version": "v4"},
    "proto": {"udp": {"sport": 5000, "dport": 53}},
}
CT: dict[str, Any] = {
    "state": "new",
    "zone_id": 0,
    "zone_dir": "Default",
    "orig": END,
    "reply": END,
}
CT |= {"mark": 0, "ct_status": 8}


def events(count: int) -> list[dict[str, Any]]:
    """Return points of UDP packets, each with its bytes."""
    made = [retis.startup()]
    for number in range(count):
        life, nth = divmod(number, POINTS)
        content = life.to_bytes(4, "big") * 15
        packet = ipv4("10.9.0.1", "10.9.0.2", 17, udp(5000, 53, content), ip_id=life & 0xFFFF)
        point = retis.point(1000 * number, SYMBOLS[nth], 1000 * POINTS * life, ethernet(packet))
        point["skb"]["meta"] |= META
        point["skb"]["data_ref"] = DATA_REF
        made.append(point | ({"ct": CT} if nth % 4 == 0 else {}))
    return made


def by_reference(path: Path) -> None:
    """Take the time, symbol, tracking and bytes of each event."""
    for event in reference.EventReader(str(path)):
        if "kernel" not in event:
            continue
        tracked = event["skb-tracking"]
        _ = event["common"].timestamp, event["kernel"].symbol, bytes(event["packet"].data)
        _ = tracked.timestamp, tracked.orig_head, tracked.skb


def cpu(work: Callable[[Path], object], path: Path) -> float:
    """Return the seconds of CPU time of the fastest of some runs."""
    found = []
    for _ in range(RUNS):
        begin = time.process_time()
        work(path)
        found.append(time.process_time() - begin)
    return min(found)


def main(count: int) -> None:
    """Make a log and print a line for each way to read it."""
    with TemporaryDirectory() as folder:
        path = Path(folder) / "retis.data"
        with path.open("w") as file:
            file.writelines(json.dumps(e, separators=(",", ":")) + "\n" for e in events(count))
        print(f"{count} events of {path.stat().st_size / count:.0f} bytes; us of CPU for an event:")
        log = readers.read(path, Silent())  # also loads the compiled loops
        assert isinstance(log, KernelLog) and len(log.records) == count
        session = Path(folder) / "a.skbv"
        import_files([path], session)
        ways: dict[str, Callable[[Path], object]] = {
            "retis.EventReader": by_reference,
            "read": lambda one: readers.read(one, Silent()),
            "import": lambda one: import_files([one], session),
        }
        for name, work in ways.items():
            print(f"  {name:<18} {cpu(work, path) / count * 1e6:6.2f}")


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else EVENTS)
