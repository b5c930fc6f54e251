# SPDX-License-Identifier: MIT
"""Start the program fast.

Modules are imported without the garbage collector, which would scan objects that are never freed.
The linear algebra of numpy gets no threads: the program hardly uses it, and each thread spins for a
tenth of a second. OpenBLAS reads its number of threads when it is loaded, so this module must be
imported before numpy.
"""

from __future__ import annotations

import gc
import os
import signal
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType
from typing import NoReturn

QT = ("PySide6", "shiboken6", "pyqtgraph")

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")


def end_by_signals() -> None:
    """Let SIGTERM and SIGHUP raise SystemExit(128 + signal) instead of ending the program at once.

    The program then removes incomplete files. A signal that is ignored (as under nohup) stays
    ignored.
    """
    for number in (signal.SIGTERM, signal.SIGHUP):
        if signal.getsignal(number) is signal.SIG_DFL:
            signal.signal(number, _end)


def _end(number: int, _: FrameType | None) -> NoReturn:
    raise SystemExit(128 + number)


@contextmanager
def needing_qt(what: str) -> Iterator[None]:
    """Run imports that load Qt; `what` says in the error message what needs Qt.

    Raises KeyError with a message if Qt is missing.
    """
    try:
        yield
    except ImportError as error:
        if (error.name or "").split(".")[0] not in QT:
            raise
        raise KeyError(f"{what} needs Qt, which cannot be loaded: {error}") from error


@contextmanager
def importing() -> Iterator[None]:
    """Run imports without the garbage collector, which makes them a tenth faster.

    The garbage collector never scans the objects that exist after the first call. A later call in
    the same process exempts no further objects, because the program then has objects that must be
    freed.
    """
    collects = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if not gc.get_freeze_count():
            gc.freeze()
        if collects:
            gc.enable()
