# SPDX-License-Identifier: MIT
"""Marks, ignored rows, time references and comments: they are saved at once, Ctrl+Z undoes them.

The window shows only what is in the session file.  A change that cannot be saved is reported and
not made.  Flags of very many rows are saved by a worker; later changes wait for it.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import numpy as np
from PySide6.QtCore import QObject, Signal
from PySide6.QtGui import QUndoCommand, QUndoStack

from skbviewer.records import Annotation, BadInput
from skbviewer.records.annotation import COMMENT, FLAGS, MARK
from skbviewer.session.annotation_places import rising

from ..base.background_tasks import Tasks
from ..base.recording_interface import Recording, RowIds
from .packet_rows import ListRow
from .row_flags import FlagSets

MANY = 100_000  # writing the flags of this many rows takes about a frame
_WORDS = {"mark": "Mark", "ignore": "Ignore", "time_ref": "Time Reference"}


class _Change(QUndoCommand):
    """One step of the undo stack."""

    def __init__(self, text: str, do: Callable[[], None], undo: Callable[[], None]) -> None:
        super().__init__(text)
        self._do, self._undo = do, undo

    def redo(self) -> None:
        self._do()

    def undo(self) -> None:
        self._undo()


class Notes(QObject):
    """The notes of one recording.

    `changed` is emitted after a change; `failed` carries the reason why a change was not saved.
    """

    changed = Signal()
    failed = Signal(str)

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._recording: Recording | None = None
        self._comments: dict[tuple[int | None, int | None], Annotation] = {}
        self.flags = FlagSets()
        self.stack = QUndoStack(self)
        self.tasks = Tasks(self)
        self.tasks.failed.connect(self._fail_many)
        self._waiting: list[Callable[[], None]] = []

    def use(self, recording: Recording | None) -> None:
        """Show and change the notes of `recording` from now on, with an empty undo stack."""
        self.tasks.cancel()
        self._waiting.clear()
        self._recording = recording
        self.stack.clear()
        self._comments = {}
        self.flags = FlagSets()
        if recording is not None:
            self.flags = FlagSets(
                recording.packets.count(), recording.packets.all_kernel_only_count()
            )
            for kind in FLAGS:
                self.flags.put(kind, recording.notes.flags(kind), True)
            for note in recording.notes.all(COMMENT):
                self._comments[note.packet, note.series] = note
        self.changed.emit()

    def comment(self, row: ListRow) -> str:
        """Return the comment on a row, "" if there is none."""
        note = self._comments.get((row.packet, row.series))
        return "" if note is None else note.text

    def comments(self) -> list[Annotation]:
        """Return all comments, in the order in which they were made."""
        return sorted(self._comments.values(), key=lambda note: note.id)

    def toggle(self, kind: str, ids: RowIds) -> None:
        """Set the flag `kind` on the rows `ids`; if all of them already have it, clear it."""
        self._when_free(lambda: self._put(kind, ids, len(self.flags.those(kind, ids, False)) > 0))

    def put(self, kind: str, ids: RowIds, on: bool) -> None:
        """Set the flag `kind` on the rows `ids`, or clear it if not `on`, as one step to undo."""
        self._when_free(lambda: self._put(kind, ids, on))

    def undo(self) -> None:
        """Undo the last step."""
        self._when_free(self.stack.undo)

    def redo(self) -> None:
        """Redo the step that was undone last."""
        self._when_free(self.stack.redo)

    def _when_free(self, act: Callable[[], None]) -> None:
        """Call `act` now; while a worker saves flags, let `act` wait after earlier changes."""
        if self.tasks.busy:
            self._waiting.append(act)
        else:
            act()

    def _go_on(self) -> None:
        while self._waiting and not self.tasks.busy:
            self._waiting.pop(0)()

    def _put(self, kind: str, ids: RowIds, on: bool) -> None:
        ids = rising(self.flags.those(kind, ids, not on))
        if not len(ids):
            return
        text = f"{'' if on else 'Clear '}{_WORDS[kind]}, {len(ids):,} row{'s' * (len(ids) > 1)}"
        do, undo = (partial(self._put_flags, kind, ids, set_) for set_ in (on, not on))
        if len(ids) > MANY:
            self._put_many(kind, ids, on, text, lambda: self._done(text, do, undo))
        else:
            self._push(text, do, undo)

    def put_comment(self, row: ListRow, text: str) -> None:
        """Set the comment on a row; "" removes it."""
        self._when_free(lambda: self._comment(row, text))

    def _comment(self, row: ListRow, text: str) -> None:
        before = self.comment(row)
        if text != before:
            self._push(
                "Comment",
                lambda: self._put_comment(row, text),
                lambda: self._put_comment(row, before),
            )

    def next_flag(self, kind: str, ids: RowIds | None, position: int, step: int) -> int | None:
        """Return the id of the next (`step` 1) or previous (-1) row with a flag; None if none.

        The search starts at `position` and wraps around.  `ids` are the listed rows; None means all
        packets.
        """
        those = self.flags.all(kind)
        at = those[those > 0] - 1 if ids is None else np.flatnonzero(np.isin(ids, those))
        at = at[at != position]
        if not len(at):
            return None
        further = at[at > position] if step > 0 else at[at < position][::-1]
        found = int(further[0] if len(further) else (at[0] if step > 0 else at[-1]))
        return found + 1 if ids is None else int(ids[found])

    def marked(self) -> int:
        """Return the number of marked rows."""
        return self.flags.count(MARK)

    def push(self, text: str, do: Callable[[], None], undo: Callable[[], None]) -> None:
        """Make a change by calling `do`, and put it on the undo stack; `undo` reverts the change.

        Other views use this method for their own changes.  `text` names the step.
        """
        self._when_free(lambda: self._push(text, do, undo))

    def _push(self, text: str, do: Callable[[], None], undo: Callable[[], None]) -> None:
        """Make a change, and put it on the undo stack if it could be saved."""
        try:
            do()
        except BadInput as error:
            self.failed.emit(str(error))
            return
        self._done(text, do, undo)

    def _done(self, text: str, do: Callable[[], None], undo: Callable[[], None]) -> None:
        """Put a change that has been made on the undo stack."""
        first = [True]  # push() calls redo(), but the change was made already

        def again() -> None:
            if not first:
                self._guarded(do)
            first.clear()

        self.stack.push(_Change(text, again, lambda: self._guarded(undo)))

    def _guarded(self, do: Callable[[], None]) -> None:
        try:
            do()
        except BadInput as error:
            self.failed.emit(str(error))

    def _put_flags(self, kind: str, ids: RowIds, on: bool) -> None:
        if len(ids) > MANY:
            self._put_many(kind, ids, on, f"{_WORDS[kind]}, {len(ids):,} rows")
        elif self._recording is not None:
            self._recording.notes.set_flags(kind, ids, on)
            self.flags.put(kind, ids, on)
            self.changed.emit()

    def _put_many(
        self, kind: str, ids: RowIds, on: bool, text: str, then: Callable[[], None] | None = None
    ) -> None:
        """Save flags as _put_flags() does, but in a worker; call `then` if they were saved."""
        recording = self._recording
        if recording is None:
            return

        def done(_: None) -> None:
            self.flags.put(kind, ids, on)
            self.changed.emit()
            if then is not None:
                then()
            self._go_on()

        self.tasks.start(f"{text} …", lambda _: recording.notes.set_flags(kind, ids, on), done)

    def _fail_many(self, line: str) -> None:
        self.failed.emit(line)
        self._go_on()

    def _put_comment(self, row: ListRow, text: str) -> None:
        if self._recording is None:
            return
        key = (row.packet, row.series)
        old = self._comments.get(key)
        if text:
            note = Annotation(COMMENT, text, row.packet, row.series, id=old.id if old else 0)
            self._comments[key] = self._recording.notes.keep(note)
        elif old is not None:
            self._recording.notes.remove(old.id)
            del self._comments[key]
        self.changed.emit()
