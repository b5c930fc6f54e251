# SPDX-License-Identifier: MIT
"""``python -m tests.causes``: judge the diagnoses of all recordings below build/causes.

Prints a table; the exit code is 1 if precision or recall is below its goal, a count differs from
the kernel's, or causes were found in the wrong order.
"""

from __future__ import annotations

import sys

from .judge import Judged, diagnosed, judge, scores
from .record import RECORDINGS
from .scenarios import PROVOKED, named

PRECISION, RECALL = 0.95, 0.9


def _judged(series: str) -> list[Judged]:
    made = []
    for folder in sorted((RECORDINGS / series).iterdir()):
        name, _, seed = folder.name.rpartition(".")
        made.append(one := judge(named(name), int(seed), folder, diagnosed(folder)))
        print(f"{series} {folder.name}: missing {one.missing}, false {one.false}, "
              f"counts {one.counts}, ordered {one.ordered}, "
              f"ranks {one.ranks}", flush=True)  # fmt: skip
    return made


def main() -> int:
    """Judge all recordings."""
    scenarios, bad = {one.name: one for one in PROVOKED}, 0
    for folder in sorted(RECORDINGS.iterdir()):
        if folder.name == "guest":
            continue
        made = _judged(folder.name)
        every = scores(made, scenarios)
        found, provoked = sum(one.found for one in every), sum(one.provoked for one in every)
        false = sum(one.false for one in every)
        for one in every:
            print(f"{folder.name} {one.rule}: {one.found} of {one.provoked}, {one.false} false")
        counts = [one.counts for one in made if one.counts]
        equal = sum(shown == counted for shown, counted in counts)
        orders = [one.ordered for one in made if one.ordered is not None]
        precision, recall = found / max(1, found + false), found / max(1, provoked)
        print(f"{folder.name}: {len(made)} recordings, precision {precision:.3f}, "
              f"recall {recall:.3f}, counts equal {equal} of {len(counts)}, "
              f"in order {sum(orders)} of {len(orders)}")  # fmt: skip
        bad += not all(orders)
        bad += precision < PRECISION or recall < RECALL or equal < len(counts)
    return int(bad > 0)


if __name__ == "__main__":
    sys.exit(main())
