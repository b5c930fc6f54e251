# SPDX-License-Identifier: MIT
"""Preloaded by Dask workers: shares are small, and a worker ends, or waits, while it writes one.

The environment says which worker: UNLUCKY is "session" for the one that made the session, "other"
for one that did not, and "wait" for each: it waits.  It happens once: UNLUCKY_MARK is a file that
is made when it happens.
"""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any
from unittest.mock import patch

from skbviewer.dataset import add_task, parallel_table_writing
from skbviewer.export.parquet import write_parquet
from skbviewer.session import import_files
from skbviewer.store.views import view_blocks

ROWS, BLOCK = 2000, 97
WAIT_S = 60


def dask_setup(_worker: object) -> None:
    """Change this process, before its worker runs any task."""
    made: list[bool] = []
    patch.object(parallel_table_writing, "ROWS", ROWS).start()
    patch.object(view_blocks, "BLOCK", BLOCK).start()
    patch.object(add_task, "import_files", _noting(made, import_files)).start()

    def unlucky(*words: Any) -> None:
        write_parquet(*words)
        which = os.environ["UNLUCKY"]
        if which in ("wait", "session" if made else "other") and _first():
            if which == "wait":
                time.sleep(WAIT_S)
            os.kill(os.getpid(), signal.SIGKILL)

    patch.object(parallel_table_writing, "write_parquet", unlucky).start()


def _noting(made: list[bool], importing: Callable[..., Any]) -> Callable[..., Any]:
    def noting(*words: Any, **named: Any) -> Any:
        made.append(True)
        return importing(*words, **named)

    return noting


def _first() -> bool:
    try:
        Path(os.environ["UNLUCKY_MARK"]).touch(exist_ok=False)
    except FileExistsError:
        return False
    return True
