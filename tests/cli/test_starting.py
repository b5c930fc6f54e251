# SPDX-License-Identifier: MIT
from __future__ import annotations

import gc
import os
import subprocess
import sys
from weakref import ref

from skbviewer.cli.starting import importing


class Owner:
    """An object that refers to itself, so that only the garbage collector frees it."""

    def __init__(self) -> None:
        self.itself = self


def test_no_thread_is_started_before_there_is_work() -> None:
    """Threads for numpy's algebra would spin: a tenth of a second of CPU for each command."""
    environment = {k: v for k, v in os.environ.items() if k != "OPENBLAS_NUM_THREADS"}
    words = "import os, skbviewer.cli, numpy; print(len(os.listdir('/proc/self/task')))"
    done = subprocess.run(
        [sys.executable, "-c", words], env=environment, check=True, capture_output=True, text=True
    )
    assert done.stdout == "1\n"


def test_the_second_command_of_a_process_keeps_nothing_of_the_first() -> None:
    with importing():
        pass
    left = ref(Owner())
    with importing():
        pass
    gc.collect()
    assert left() is None
