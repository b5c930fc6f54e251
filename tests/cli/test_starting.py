# SPDX-License-Identifier: MIT
from __future__ import annotations

import os
import subprocess
import sys


def test_no_thread_is_started_before_there_is_work() -> None:
    """Threads for numpy's algebra would spin: a tenth of a second of CPU for each command."""
    environment = {k: v for k, v in os.environ.items() if k != "OPENBLAS_NUM_THREADS"}
    words = "import os, skbviewer.cli, numpy; print(len(os.listdir('/proc/self/task')))"
    done = subprocess.run(
        [sys.executable, "-c", words], env=environment, check=True, capture_output=True, text=True
    )
    assert done.stdout == "1\n"
