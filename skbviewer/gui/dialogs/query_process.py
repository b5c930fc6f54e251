# SPDX-License-Identifier: MIT
"""Run each query as `skbviewer query` in a process of its own.

SQLite's memory limit applies to a whole process, so a query in the window's process would limit the
window as well.  A separate process can also be ended at any time.  Starting a process takes most of
a second, so the process of the next query is started in advance and waits for its statement.
"""

from __future__ import annotations

import json
import sys
import time
from pathlib import Path
from typing import NamedTuple

from PySide6.QtCore import QObject, QProcess, Signal

from skbviewer.export.query_text import Value
from skbviewer.records import BadInput, Progress

from ..base.background_tasks import Tasks

WARNING = "warning: "


class Result(NamedTuple):
    """The rows of a query, the seconds it took, and warnings (such as rows left out)."""

    columns: tuple[str, ...]
    rows: list[list[Value]]
    seconds: float
    warnings: tuple[str, ...]


def result_of(out: bytes, err: str, seconds: float) -> Result:
    """Return the result in the output of `skbviewer query`.

    `out` and `err` are the command's standard output and error output; `seconds` is the time it
    took. Raises BadInput if the command printed no result.
    """
    warnings, errors = list[str](), list[str]()
    for line in filter(None, err.splitlines()):
        is_warning = line.startswith(WARNING)
        (warnings if is_warning else errors).append(line.removeprefix(WARNING))
    try:
        objects = json.loads(out)
    except ValueError:
        why = (errors or ["the query ended without a result"])[-1].removeprefix("skbviewer: ")
        raise BadInput(Path("SQL"), None, why.split("query: ", 1)[-1]) from None
    columns = tuple(objects[0]) if objects else ()
    return Result(columns, [list(one.values()) for one in objects], seconds, tuple(warnings))


class QueryProcess(QObject):
    """Runs one query at a time; its result is parsed outside the window's thread."""

    done = Signal(object)  # Result
    failed = Signal(str)  # one line
    ended = Signal()  # after done, failed or cancelled

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._process: QProcess | None = None
        self._next: tuple[Path, QProcess] | None = None  # waits for a statement
        self._begin = 0.0
        self._tasks = Tasks(self)
        self._tasks.failed.connect(lambda line: self.failed.emit(line.removeprefix("SQL: ")))
        self._tasks.ended.connect(self.ended)

    @property
    def busy(self) -> bool:
        """Return whether a query is running or its result is being read."""
        return self._process is not None or self._tasks.busy

    def run(self, file: Path, sql: str) -> None:
        """Run `sql` on the session `file`; a running query is ended first."""
        self._stop()
        self.prepare(file)
        assert self._next is not None
        (_, process), self._next = self._next, None
        self._process, self._begin = process, time.monotonic()
        if not _runs(process):  # it could not be started
            self._conclude(process, file)
            return
        process.finished.connect(lambda *_: self._conclude(process, file))
        process.errorOccurred.connect(lambda _: self._conclude(process, file))
        process.write(sql.encode(errors="replace"))
        process.closeWriteChannel()

    def prepare(self, file: Path) -> None:
        """Start the process for the next query, which will be about the session `file`."""
        if self._next is not None and self._next[0] == file and _runs(self._next[1]):
            return
        self._forget_next()
        process = QProcess(self)
        process.start(sys.executable, ["-m", "skbviewer", "query", "--json", "--", str(file), "-"])
        self._next = file, process

    def cancel(self, file: Path) -> None:
        """End the running query and its process.

        Then start the process for the next query on the session `file`.
        """
        self._stop()
        self.prepare(file)

    def close(self) -> None:
        """End the running query and all background work."""
        self._stop()
        self._forget_next()
        self._tasks.close()

    def _stop(self) -> None:
        process, self._process = self._process, None
        self._tasks.cancel()
        if process is not None:
            _end(process)
            self.ended.emit()

    def _forget_next(self) -> None:
        if self._next is not None:
            _end(self._next[1])
        self._next = None

    def _conclude(self, process: QProcess, file: Path) -> None:
        """Read the query's result if `process` has ended and is still the process of that query."""
        if process is not self._process or _runs(process):
            return
        self._process = None
        if process.error() is QProcess.ProcessError.FailedToStart:
            self.failed.emit(f"cannot start {sys.executable}")
            self.ended.emit()
            return
        seconds = time.monotonic() - self._begin
        out = bytes(process.readAllStandardOutput().data())
        err = bytes(process.readAllStandardError().data()).decode(errors="replace")
        process.deleteLater()
        self.prepare(file)

        def work(_: Progress) -> Result:
            return result_of(out, err, seconds)

        self._tasks.start("Reading the result", work, self.done.emit)


def _runs(process: QProcess) -> bool:
    return process.state() is not QProcess.ProcessState.NotRunning


def _end(process: QProcess) -> None:
    """End a process and wait for its end."""
    process.kill()
    process.waitForFinished()
    process.deleteLater()
