# SPDX-License-Identifier: MIT
"""Notes on the timeline: ask for their text, store them in the recording, show them."""

from __future__ import annotations

from collections.abc import Callable

from skbviewer.records import Annotation, BadInput
from skbviewer.records.annotation import CALL_NOTE, COMMENT

from ..base.recording_interface import Recording
from ..base.text_dialog import ask_text
from .timeline_plot import TimelinePlot

Do = Callable[[], None]


class Notes:
    """The notes of one recording that refer to a time.

    `push` gets a change to make: its name, a function that makes it, and one that undoes it.  By
    default, `push` only makes the change.
    """

    def __init__(self, view: TimelinePlot) -> None:
        self._view = view
        self._recording: Recording | None = None
        self.push: Callable[[str, Do, Do], None] = lambda _text, do, _undo: do()
        self.put_comment: Callable[[int, str], None] | None = None  # stores comments on packets

    def use(self, recording: Recording | None) -> None:
        """Show and store the notes of `recording` from now on."""
        self._recording = recording
        self.reload()

    def reload(self) -> None:
        """Read the notes from the recording and show them."""
        places = self._recording.timeline.note_places() if self._recording is not None else []
        self._view.state.notes = tuple(places)
        self._view.marks.update()

    def ask_new(self) -> None:
        """Ask for a note on the selected range, or else on the call, or else on the packet."""
        target = self._target()
        if target is None:
            return
        what, note = target
        text = self._ask(f"Note on {what}", "")
        if not text:
            return
        if self.put_comment is not None and note.kind == COMMENT and note.packet is not None:
            self.put_comment(note.packet, text)
        else:
            self._add(note._replace(text=text))

    def ask_change(self, note: Annotation) -> None:
        """Ask for a new text of a note; an empty text removes the note."""
        text = self._ask("Change note (an empty text removes it)", note.text)
        if text is None or text == note.text:
            return
        if self.put_comment is not None and note.kind == COMMENT and note.packet is not None:
            self.put_comment(note.packet, text)
            return
        if text:
            changed = note._replace(text=text)
            self._push("Change Note", lambda: self._keep(changed), lambda: self._keep(note))
        else:
            self._remove(note)

    def _remove(self, note: Annotation) -> None:
        now = [note]  # the stored note; storing it again changes its id

        def restore() -> None:
            now[:] = [self._keep(note._replace(id=0))]

        self._push("Remove Note", lambda: self._drop(now[0]), restore)

    def _add(self, note: Annotation) -> None:
        now: list[Annotation] = []

        def add() -> None:
            now[:] = [self._keep(note)]

        self._push("Note", add, lambda: self._drop(now[0]))

    def _target(self) -> tuple[str, Annotation] | None:
        """Return in words what a new note would be about, and the note, which has no text yet."""
        view, recording = self._view, self._recording
        if recording is None:
            return None
        if view.state.range is not None and not view.mode.is_relative:
            return "the selected range", recording.timeline.range_note("", view.state.range)
        call = view.selected_call()
        if call is not None:
            return "the selected call", Annotation(CALL_NOTE, call=call)
        packet = view.path.packet if view.path is not None else None
        if packet is not None:
            return f"packet {packet.number}", Annotation(COMMENT, packet=packet.number)
        if view.state.span is not None:
            return "the selected packet", recording.timeline.range_note("", view.state.span)
        return None

    def _ask(self, title: str, text: str) -> str | None:
        return ask_text(self._view, "Note", f"{title}:", text)

    def _keep(self, note: Annotation) -> Annotation:
        assert self._recording is not None
        return self._recording.notes.keep(note)

    def _drop(self, note: Annotation) -> None:
        assert self._recording is not None
        self._recording.notes.remove(note.id)

    def _push(self, text: str, do: Callable[[], object], undo: Callable[[], object]) -> None:
        self.push(text, lambda: self._change(do), lambda: self._change(undo))

    def _change(self, change: Callable[[], object]) -> None:
        try:
            change()
        except (BadInput, KeyError) as error:
            self._view.failed.emit(str(error))
        self.reload()
        self._view.notes_changed.emit()
