# SPDX-License-Identifier: MIT
"""``python -m tests.dataset.host_judging``: match the traffic of ten hosts, and judge every pair.

With the default numbers it judges more than a million pairs.
"""

from __future__ import annotations

import argparse
import resource
import tempfile
import time
from pathlib import Path

import numpy as np

from skbviewer.dataset.same_packets_across_sessions import across_sessions
from skbviewer.matching import EXACT, FAR
from skbviewer.records import Silent
from tests.dataset.host_judge import Claimed, Judged, judge
from tests.dataset.host_tables import make_dataset
from tests.dataset.host_traffic import HOSTS


def judged(out: Path) -> Judged:
    """Match the dataset in the folder `out`, and judge the exact pairs by the truth there."""
    found = across_sessions(out / "dataset", Silent())
    pairs, host = found.pairs, np.array([HOSTS.index(name) for _, name in found.recordings])
    exact = (pairs.verdict == EXACT) & (found.number[pairs.a] > 0) & (found.number[pairs.b] > 0)
    a, b = pairs.a[exact], pairs.b[exact]
    clock, number = found.found.clock, found.number
    said = Claimed(
        host[clock[a]], number[a], host[clock[b]], number[b], pairs.least_ns[exact],
        pairs.most_ns[exact],
    )  # fmt: skip
    return judge(out / "truth.npz", said, FAR // 2)


def main() -> None:
    """Read the arguments, make the traffic, print what the judge found."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--flows", type=int, default=11_000)
    parser.add_argument("--packets", type=int, default=24, help="of a flow, on average")
    parser.add_argument("--seconds", type=int, default=300)
    parser.add_argument("--seed", type=int, default=1)
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        out = Path(folder)
        make_dataset(out, asked.flows, asked.packets, asked.seconds, asked.seed)
        begin = time.process_time()
        found = judged(out)
        spent = time.process_time() - begin
    for name, value in found._asdict().items():
        print(f"{name:<9} {value}")
    print(f"found / unique {found.found / found.unique:.4f}")
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss >> 10
    print(f"{spent:.0f} s of CPU time, at most {memory} MiB")


if __name__ == "__main__":
    main()
