# SPDX-License-Identifier: MIT
"""Measures how long the window takes for something."""

from __future__ import annotations

import os
import re
import time
from collections.abc import Callable
from pathlib import Path

from PySide6.QtCore import QCoreApplication
from PySide6.QtWidgets import QApplication, QWidget

Found = dict[str, list[tuple[float, float]]]


def cpu_seconds() -> float:
    """Return the CPU time of all threads, and of the child processes that have ended."""
    return sum(os.times()[:4])


class Watch:
    """Runs something and keeps how long it took."""

    def __init__(self) -> None:
        self.found: Found = {}

    def time(self, name: str, do: Callable[[], object]) -> None:
        begin, cpu = time.monotonic(), cpu_seconds()
        do()
        took = (time.monotonic() - begin, cpu_seconds() - cpu)
        self.found.setdefault(name, []).append(took)

    def memory(self, name: str, word: str) -> None:
        status = Path("/proc/self/status").read_text()
        found = re.search(rf"{word}:\s+(\d+) kB", status)
        self.found[name] = [(int(found.group(1)) / 1024 if found else 0.0, 0.0)]


def until(done: Callable[[], bool], limit_s: float = 600.0) -> None:
    """Let Qt work until `done`; raises TimeoutError."""
    end = time.monotonic() + limit_s
    while not done():
        QCoreApplication.processEvents()
        time.sleep(0.0005)
        if time.monotonic() > end:
            raise TimeoutError("nothing happens")


def show(window: QWidget) -> None:
    """Paint what wants to be painted."""
    QApplication.processEvents()
    window.repaint()
    QApplication.processEvents()
