# SPDX-License-Identifier: MIT
"""Run long work outside the window's thread; show its progress and errors, and let users cancel.

The work gets a Progress and touches no widget.  The result comes back by a signal.  The results of
earlier work are ignored.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from typing import Any, TypeVar

from PySide6.QtCore import QObject, QRunnable, Qt, QThreadPool, Signal, Slot

from skbviewer.records import BadInput, Cancelled, Progress
from skbviewer.session.memory_reuse import give_back

SIGNAL_INTERVAL_S = 0.1
LONG_S = 0.2  # longer work may have used much memory, which is given back
Result = TypeVar("Result")
Work = Callable[[Progress], object]


class _Reporter:
    """A Progress that passes on at most ten reports a second, and raises Cancelled if asked to."""

    def __init__(self, job: _Job) -> None:
        self._job = job
        self._last = 0.0

    def report(self, what: str, done: int, total: int) -> None:
        if self._job.stop.is_set():
            raise Cancelled
        now = time.monotonic()
        if now - self._last >= SIGNAL_INTERVAL_S:
            self._last = now
            self._job.say("progress", (what, done, total))


class _Voice(QObject):
    """Passes messages of a job to the window's thread; each has the job, a word and a value."""

    said = Signal(object, str, object)


class _Job(QRunnable):
    def __init__(self, work: Work, done: Callable[[Any], object]) -> None:
        super().__init__()
        self.setAutoDelete(False)
        self._work = work
        self.done = done
        self.voice = _Voice()
        self.stop = threading.Event()

    def say(self, word: str, value: object = None) -> None:
        self.voice.said.emit(self, word, value)

    def run(self) -> None:
        begin = time.monotonic()
        self._run()
        if time.monotonic() - begin > LONG_S:
            give_back()

    def _run(self) -> None:
        try:
            result = self._work(_Reporter(self))
        except Cancelled:
            self.say("cancelled")
        except (BadInput, OSError) as error:
            self.say("failed", str(error))
        except Exception as error:  # noqa: BLE001 - a bug: raised again in the window's thread
            self.say("broken", error)
        else:
            self.say("done", result)


class Tasks(QObject):
    """Runs one job at a time. Starting another job cancels the running one."""

    started = Signal(str)
    progress = Signal(str, object, object)  # what, done, total: may exceed 32 bits
    failed = Signal(str)  # one line for the user
    ended = Signal()  # after done, failed or cancelled

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._pool = QThreadPool(self)
        self._pool.setMaxThreadCount(2)
        self._job: _Job | None = None
        self._alive: list[_Job] = []

    @property
    def busy(self) -> bool:
        """Return whether work is running."""
        return self._job is not None

    def start(
        self, title: str, work: Callable[[Progress], Result], done: Callable[[Result], object]
    ) -> None:
        """Run `work` in another thread and call `done` with its result in the window's thread.

        `done` is not called if newer work has been started.  `title` is shown with the progress.
        """
        self.cancel()
        self._job = _Job(work, done)
        self._job.voice.said.connect(self._hear, Qt.ConnectionType.QueuedConnection)
        self._alive.append(self._job)
        self.started.emit(title)
        self._pool.start(self._job)

    def cancel(self) -> None:
        """Ask the running work to stop.  Its later messages are ignored."""
        if self._job is not None:
            self._job.stop.set()
            self._job = None
            self.ended.emit()

    def close(self) -> None:
        """Cancel the running work and wait until its thread has ended."""
        self.cancel()
        self._pool.waitForDone()

    @Slot(object, str, object)
    def _hear(self, job: _Job, word: str, value: Any) -> None:
        if word == "progress":
            if job is self._job:
                self.progress.emit(*value)
            return
        self._alive.remove(job)
        if job is self._job:
            self._job = None
            self.ended.emit()
            self._conclude(job, word, value)
        elif word == "done" and hasattr(value, "close"):
            value.close()  # a recording that is no longer wanted

    def _conclude(self, job: _Job, word: str, value: Any) -> None:
        if word == "done":
            job.done(value)
        elif word == "failed":
            self.failed.emit(value)
        elif word == "broken":
            raise value
