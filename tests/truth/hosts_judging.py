# SPDX-License-Identifier: MIT
"""``python -m tests.truth.hosts_judging [FOLDER]``: judge a recording of the three guests.

FOLDER is what tests/truth/three_hosts.py made, build/truth/recordings/6.12-hosts by default.
"""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

import numpy as np

from . import layout
from .claims_across_hosts import claims_of, make_dataset
from .judge_hosts import HOSTS, judge
from .running import read_recording
from .three_hosts import FOLDER


def main(folder: Path) -> int:
    """Print what was judged.

    Returns 1 if a pair is wrong or an interval does not hold the truth, 2 if nothing was judged.
    """
    recordings = {host: read_recording(folder / host) for host in HOSTS}
    with tempfile.TemporaryDirectory() as out:
        make_dataset(recordings, Path(out) / "dataset")
        claims, _ = claims_of(Path(out) / "dataset")
    found = judge(recordings, claims)
    captured = sum(len(one.found[name].frames) for one in recordings.values() for name in one.found)
    print(f"captured packets {captured}; exact pairs {len(claims)}")
    print(f"judged {found.judged}: wrong {found.wrong}; with equal bytes twice {found.unjudged}")
    print(f"timed {found.timed}: intervals without the truth {found.outside}")
    if not found.timed:
        return 2
    widths = found.widths_ns
    print(f"width of an interval, median: {np.median(found.claimed_ns) / 1e6:.2f} ms")
    print(f"of the judge's: {np.median(widths)} ns, at most {widths.max()} ns")
    return min(found.wrong + found.outside, 1)


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1]) if sys.argv[1:] else layout.RECORDINGS / FOLDER))
