# SPDX-License-Identifier: MIT
"""How the program starts: without what would only take time.

Imports are made without the garbage collector, which would look through what stays for good; and
numpy's algebra, of which there is little, gets no threads of its own, which spin for a tenth of a
second each.  It reads that when it is loaded, so this module is to be imported before.
"""

from __future__ import annotations

import gc
import os
from collections.abc import Iterator
from contextlib import contextmanager

QT = ("PySide6", "shiboken6", "pyqtgraph")

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")


@contextmanager
def needing_qt(what: str) -> Iterator[None]:
    """Imports inside load Qt for `what`; KeyError with a line for the user where that fails."""
    try:
        yield
    except ImportError as error:
        if (error.name or "").split(".")[0] not in QT:
            raise
        raise KeyError(f"{what} needs Qt, which cannot be loaded: {error}") from error


@contextmanager
def importing() -> Iterator[None]:
    """Saves a tenth of the time that imports inside take; the collector runs again afterwards."""
    gc.disable()
    try:
        yield
    finally:
        gc.freeze()
        gc.enable()
