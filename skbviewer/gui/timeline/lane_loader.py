# SPDX-License-Identifier: MIT
"""Read data of the timeline outside the window's thread: overview, lanes, a call's position."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from PySide6.QtCore import QObject, QTimer, Signal

from skbviewer.analysis.timeline.lanes import PACKET_KINDS, Timeline
from skbviewer.analysis.timeline.session_overview import Overview
from skbviewer.records import Progress
from skbviewer.session.kernel.call_positions_in_path import CallPlace

from ..base.background_tasks import Tasks
from ..base.recording_interface import Recording

DELAY_MS = 300
ARRANGING = "Arranging calls…"


class Loader(QObject):
    """Serves one recording.

    Each kind of work has its own Tasks, so that only the latest result of each kind is used.
    """

    overview_ready = Signal(object)  # Overview
    timeline_ready = Signal(object)  # Timeline
    working = Signal(str)  # what is being done; "" = nothing
    arranging_all = Signal(str)  # lanes of all calls are being made, which takes much memory
    failed = Signal(str)

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._recording: Recording | None = None
        self._lanes, self._calls = Tasks(self), Tasks(self)
        self._kind = ""  # of the lanes that were asked for last
        self.overview: Overview | None = None
        self._soon = QTimer(self)  # delays the overview until the list shows its first rows
        self._soon.setSingleShot(True)
        self._soon.setInterval(DELAY_MS)
        self._soon.timeout.connect(self._look_over)
        for tasks in (self._lanes, self._calls):
            tasks.failed.connect(self.failed)
        self._lanes.started.connect(self.working)
        self._lanes.ended.connect(lambda: self.working.emit(""))

    @property
    def busy(self) -> bool:
        """Return whether anything is being read."""
        return self._lanes.busy or self._calls.busy or self._soon.isActive()

    @property
    def arranges_all(self) -> bool:
        """Return whether the lanes of all calls are being arranged."""
        return self._lanes.busy and self._kind not in ("", *PACKET_KINDS)

    def use(self, recording: Recording | None) -> None:
        """Use `recording` from now on, and read its overview after a short delay."""
        self.stop()
        self._recording, self.overview = recording, None
        if recording is not None:
            self._soon.start()

    def _look_over(self) -> None:
        if self._recording is not None:
            self._lanes.start(
                "Reading the recording…", self._recording.timeline.overview, self._keep
            )

    def _keep(self, overview: Overview) -> None:
        self.overview = overview
        self.overview_ready.emit(overview)

    def lanes(self, kind: str, ids: Sequence[int]) -> None:
        """Read lanes of the kind `kind`; for lanes of packets, `ids` are their rows."""
        recording = self._recording
        if recording is None:
            return
        self._soon.stop()
        self._kind = kind

        def work(progress: Progress) -> tuple[Overview, Timeline]:
            overview = recording.timeline.overview(progress)
            return overview, recording.timeline.lanes(kind, ids, progress)

        self._lanes.start(ARRANGING, work, self._report_lanes)
        if self.arranges_all:
            self.arranging_all.emit(ARRANGING)

    def _report_lanes(self, found: tuple[Overview, Timeline]) -> None:
        if self.overview is None:
            self._keep(found[0])
        self.timeline_ready.emit(found[1])

    def place(self, call: int, done: Callable[[CallPlace], object]) -> None:
        """Find packet, leg and position of a call (an id in table `calls`) and pass them on."""
        recording = self._recording
        if recording is not None:
            self._calls.start(
                "Looking up the call…", lambda _: recording.paths.call_place(call), done
            )

    def stop(self) -> None:
        """Cancel the running work."""
        self._soon.stop()
        self._lanes.cancel()
        self._calls.cancel()

    def close(self) -> None:
        """Stop all work, and wait until its threads have ended."""
        self._soon.stop()
        self._lanes.close()
        self._calls.close()
