# SPDX-License-Identifier: MIT
"""How much CPU time the machine takes for one and the same import while something else runs.

Processes that share a core or a cache slow each other down, so the CPU seconds of the same work
differ by more than what `make bench-fleet` has to show.  A small pair is imported again and again
beside what is measured; its CPU seconds show how fast the machine was meanwhile.
"""

from __future__ import annotations

import shutil
import statistics
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path

from skbviewer.dataset import dataset_paths
from skbviewer.dataset.add_task import add_pair

PAUSE_S = 2.0  # between two imports


class MachineSpeed:
    """Imports `pair` in a process of its own until the end of `with`, each time as if first.

    `seconds` is then the mean CPU time of an import; nan if none ended.
    """

    def __init__(self, out: Path, pair: Sequence[Path]) -> None:
        self.seconds = float("nan")
        module = "tests.bench.machine_speed"
        self._words = [sys.executable, "-m", module, *map(str, (out, *pair))]

    def __enter__(self) -> MachineSpeed:
        self._process = subprocess.Popen(self._words, stdout=subprocess.PIPE, text=True)
        return self

    def __exit__(self, *_: object) -> None:
        self._process.terminate()
        found = [float(line) for line in self._process.communicate()[0].splitlines()]
        if found:
            self.seconds = statistics.fmean(found)


def _import(out: Path, pair: tuple[Path, ...]) -> float:
    """Add a pair to a new dataset; return the CPU seconds."""
    shutil.rmtree(out, ignore_errors=True)
    dataset_paths.make(out)
    begin = time.process_time()
    outcome = add_pair(out, pair)
    assert outcome.added, outcome.error
    return time.process_time() - begin


def main() -> None:
    """Print the CPU seconds of one import after the other, until a signal ends this process."""
    out, *pair = map(Path, sys.argv[1:])
    _import(out, tuple(pair))  # the first one loads libraries
    while True:
        print(f"{_import(out, tuple(pair)):.4f}", flush=True)
        time.sleep(PAUSE_S)


if __name__ == "__main__":
    main()
