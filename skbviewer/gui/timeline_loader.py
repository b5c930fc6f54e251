# SPDX-License-Identifier: MIT
"""Fetches what the timeline shows off the window's thread: overview, lanes, a call's place."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from PySide6.QtCore import QObject, QTimer, Signal

from skbviewer.analysis.timeline import Timeline
from skbviewer.analysis.timeline_overview import Overview
from skbviewer.records import Progress

from .contract import Recording
from .tasks import Tasks

DELAY_MS = 300


class Loader(QObject):
    """One recording at a time; each kind of work has its own Tasks, where the latest counts."""

    overview_ready = Signal(object)  # Overview
    timeline_ready = Signal(object)  # Timeline
    working = Signal(str)  # a line on what is being done; "" = nothing any more
    failed = Signal(str)

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._recording: Recording | None = None
        self._lanes, self._calls = Tasks(self), Tasks(self)
        self.overview: Overview | None = None
        self._soon = QTimer(self)  # the first rows of the list come first
        self._soon.setSingleShot(True)
        self._soon.setInterval(DELAY_MS)
        self._soon.timeout.connect(self._look_over)
        for tasks in (self._lanes, self._calls):
            tasks.failed.connect(self.failed)
        self._lanes.started.connect(self.working)
        self._lanes.ended.connect(lambda: self.working.emit(""))

    @property
    def busy(self) -> bool:
        return self._lanes.busy or self._calls.busy or self._soon.isActive()

    def use(self, recording: Recording | None) -> None:
        """From now on ask `recording`; fetches its overview a little later."""
        self.stop()
        self._recording, self.overview = recording, None
        if recording is not None:
            self._soon.start()

    def _look_over(self) -> None:
        if self._recording is not None:
            self._lanes.start("Looking over the recording…", self._recording.overview, self._keep)

    def _keep(self, overview: Overview) -> None:
        self.overview = overview
        self.overview_ready.emit(overview)

    def lanes(self, kind: str, ids: Sequence[int]) -> None:
        """Fetch the lanes of `kind`; `ids` are the rows that "packet" gives a lane each."""
        recording = self._recording
        if recording is None:
            return
        self._soon.stop()

        def work(progress: Progress) -> tuple[Overview, Timeline]:
            overview = recording.overview(progress)
            return overview, recording.timeline(kind, ids, progress)

        self._lanes.start("Arranging calls…", work, self._tell_lanes)

    def _tell_lanes(self, found: tuple[Overview, Timeline]) -> None:
        if self.overview is None:
            self._keep(found[0])
        self.timeline_ready.emit(found[1])

    def place(self, call: int, done: Callable[[Any], None]) -> None:
        """Give `done` the CallPlace of a call (id of its table)."""
        recording = self._recording
        if recording is not None:
            self._calls.start("Looking up the call…", lambda _: recording.call_place(call), done)

    def stop(self) -> None:
        """Cancel what runs."""
        self._soon.stop()
        self._lanes.cancel()
        self._calls.cancel()

    def close(self) -> None:
        """Stop everything; no thread is left afterwards."""
        self._soon.stop()
        self._lanes.close()
        self._calls.close()
