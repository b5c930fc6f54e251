# SPDX-License-Identifier: MIT
"""Collect garbage in the window's thread only.

By default, Python collects garbage in the thread that allocates memory, for example an import's.
The garbage may contain widgets, and Qt crashes if these are destroyed outside the window's thread.
"""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager

from PySide6.QtCore import QObject, QTimer

INTERVAL_MS = 1000


def collect_due() -> None:
    """Collect the oldest generation of objects that Python itself would collect now."""
    counts, thresholds = gc.get_count(), gc.get_threshold()
    for generation in (2, 1, 0):
        # The last threshold is 0 where the interpreter collects old objects with the young ones.
        if thresholds[generation] and counts[generation] > thresholds[generation]:
            gc.collect(generation)
            return


@contextmanager
def collected_in_this_thread(parent: QObject) -> Iterator[None]:
    """Replace automatic collection by a timer of `parent`, which must belong to this thread."""
    collects = gc.isenabled()
    gc.disable()
    timer = QTimer(parent)
    timer.timeout.connect(collect_due)
    timer.start(INTERVAL_MS)
    try:
        yield
    finally:
        timer.stop()
        timer.deleteLater()
        if collects:
            gc.enable()
