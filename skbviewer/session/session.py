# SPDX-License-Identifier: MIT
"""A session file that is open for reading: its input files, and the parts of its contents."""

from __future__ import annotations

import threading
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..analysis import LayerStyle, layers
from ..analysis.comparison.recording_differences import RecordingConditions
from ..matching import Timebase
from ..records import Progress, Silent, SourceRow
from . import input_files, saving
from .exported_rows import Exports
from .kernel.kernel_code import KernelCode
from .kernel.recording_conditions import recording_conditions
from .kernel.session_graphs import Graphs
from .kernel.session_paths import Paths
from .kernel.session_statistics import Statistics
from .kernel.session_timeline import SessionTimeline
from .kernel.verdict_counts import Reason, reasons
from .match_again import rules_of
from .notes import Notes
from .open_session_file import OpenedFile
from .packets.packet_contents import Contents
from .packets.packet_list import PacketList
from .packets.session_fields import Fields
from .session_span import span_of
from .session_summary import summary

if TYPE_CHECKING:
    from .documented_tables import SessionTables
    from .kernel.executed_instructions import CountedSteps


class Session:
    """A session file that is open for reading.  Several threads may use the object at once."""

    def __init__(self, path: Path) -> None:
        self._opened = opened = OpenedFile(path)
        self.file = path
        self.columns = opened.columns  # of the bulk tables
        self.notes = Notes(opened)
        self.fields = Fields(opened, self.notes)
        self.packets = PacketList(opened, self.fields)
        self.contents = Contents(opened, self.packets, self.fields)
        self.paths = Paths(opened, self.packets)
        self.code = KernelCode(opened)
        self.timeline = SessionTimeline(opened, self.packets, self.notes)
        self.stats = Statistics(opened, self.fields)
        self.graphs = Graphs(self.stats, self.packets)
        self.export = Exports(opened, self.packets, self.fields)
        self._tables: SessionTables | None = None
        self._summary: dict[str, Any] | None = None
        self._lock = threading.Lock()

    @property
    def tables(self) -> SessionTables:
        """Return the documented tables; their declarations are loaded only when they are used."""
        from .documented_tables import SessionTables

        self._tables = self._tables or SessionTables(self._opened)
        return self._tables

    def executed_steps(self, counts: Path) -> CountedSteps:
        """Return the executed instructions of calls; the emulator's plugin wrote the file `counts`.

        Raises BadInput if the file cannot be read, is damaged, or is of another run.
        """
        from .kernel.executed_instructions import read_steps

        return read_steps(self._opened, counts)

    @classmethod
    def open(cls, path: Path) -> Session:
        """Open a session.  Raises BadInput if `path` is not a session or has another version."""
        return cls(path)

    def close(self) -> None:
        """Close the file.  Using the session afterwards opens the file again."""
        self._opened.close()

    def show_inner(self, shown: bool) -> None:
        """Set whether functions without an skb are shown and counted; at first they are.

        Paths, statistics, diagnoses, graphs, timeline and exports leave out the calls of functions
        without an skb if `shown` is False.  Display filters always find them.
        """
        self._opened.shows_inner = shown

    def sources(self) -> tuple[SourceRow, ...]:
        """Return the input files, in import order."""
        return self._opened.sources()

    def words(self) -> tuple[str, ...]:
        """Return the words that open this session in a command (see input_files.words())."""
        return input_files.words(self.file, self.sources())

    def info(self) -> dict[str, Any]:
        """Return counts, matches, losses, clock fits and sources: the JSON of `skbviewer info`."""
        with self._opened.database() as db, self._lock:
            if self._summary is None:
                self._summary = summary(db, self.columns, self.sources(), self.file)
            return dict(self._summary)

    def rules(self) -> int:
        """Return the version of the matching rules that made the verdicts, or UNNUMBERED."""
        with self._opened.database() as db:
            return rules_of(db)

    def reasons(self) -> list[Reason]:
        """Return the number of packets and of skb lifetimes for each verdict and reason."""
        return reasons(self.columns, self._opened.has_kbl())

    def conditions(self) -> RecordingConditions:
        """Return how the session was recorded, as far as comparisons need it."""
        with self._opened.database() as db:
            return recording_conditions(db, self.sources())

    def timebase(self) -> Timebase:
        """Return the object that converts the clock of each source to session time."""
        return self._opened.timebase()

    def span_ns(self) -> tuple[int, int]:
        """Return first and last session time of packets and legs, ns; (0, 0) if there are none."""
        return span_of(self.columns, self.sources(), self.timebase())

    def layers(self) -> tuple[LayerStyle, ...]:
        """Return the layers of the network stack with their colours."""
        return layers()

    def save_as(self, out: Path, progress: Progress | None = None) -> None:
        """Write a copy of the session, with its notes and flags, to `out`.

        Raises BadInput and Cancelled.
        """
        saving.save_as(self.file, out, progress or Silent())

    def relocate(self, source: int, path: Path) -> None:
        """Store in the session that the input `source` is now at `path`.

        Raises KeyError if there is no such source, BadInput if the file at `path` has a different
        content.
        """
        saving.relocate(self.file, {row.id: row for row in self.sources()}[source], path)
        self.packets.look_again()
        self._summary = None
