# SPDX-License-Identifier: MIT
"""The File menu: open, reload, restore, save, locate moved files.  A worker reads the files."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple, Protocol

from PySide6.QtCore import QObject, QSettings
from PySide6.QtWidgets import QFileDialog, QWidget

from skbviewer.readers import suffixes
from skbviewer.records import OtherVersion, Progress
from skbviewer.session.file_hash import HASHING
from skbviewer.session.match_again import are_older, match_again, rules_words

from ..base.background_tasks import Tasks
from ..base.messages import Messages
from ..base.recording_interface import Opener, Recording
from ..packets.selection import Selection
from . import bundled_recordings, recent_files, restored_view
from .files_to_open import files_to_open
from .import_summary import ImportSummary, import_line
from .moved_files import ask_missing, missing_sources
from .recording_warnings import missing
from .restored_view import ViewState

SESSION = ".skbv"
INPUTS = " ".join(f"*{suffix}" for suffix in (*suffixes(), SESSION))
FILES = f"Captures, kernel logs, sessions ({INPUTS});;All files (*)"
SESSIONS = f"Sessions (*{SESSION})"


class View(Protocol):
    """What the window shows of a recording, and how to restore it."""

    def show_recording(self, recording: Recording, title: str) -> None:
        """Show `recording` from its first row on, under the window title `title`."""

    def view_state(self) -> ViewState:
        """Return the present view: files, filter, sort order, current row, zoom and columns."""

    def restore(self, state: ViewState) -> None:
        """Restore filter, sort order, current row, columns and zoom from `state`."""


class _Opened(NamedTuple):
    recording: Recording
    imported: bool  # whether captures and KBLs were just imported

    def close(self) -> None:
        self.recording.close()


class _Seen:
    """Passes on progress.  Sets `any` when an import reports any work besides hashing files."""

    def __init__(self, progress: Progress) -> None:
        self._progress = progress
        self.any = False

    def report(self, what: str, done: int, total: int) -> None:
        self.any |= not what.startswith(HASHING)
        self._progress.report(what, done, total)


class Opening(QObject):
    """Opens files into one window.  The open recording stays until the new one is ready."""

    def __init__(
        self,
        window: QWidget,
        opener: Opener,
        view: View,
        selection: Selection,
        tasks: Tasks,
        messages: Messages,
    ) -> None:
        super().__init__(window)
        self._window, self._opener, self._view = window, opener, view
        self._selection, self._tasks, self._messages = selection, tasks, messages
        self.files: tuple[Path, ...] = ()
        self.summary: ImportSummary | None = None

    def open(self, paths: Sequence[Path], then: ViewState | None = None) -> None:
        """Open `paths`, and restore the view `then`.

        Captures join an open kernel log, and kernel logs join open captures: see files_to_open().
        """
        if paths:
            self._start(files_to_open(self._selection.recording, paths), then)

    def _start(self, files: Sequence[Path], then: ViewState | None) -> None:
        files = tuple(files)
        keep = self._related(files)

        def work(progress: Progress) -> _Opened | OtherVersion:
            seen = _Seen(progress)
            try:
                return _Opened(self._opener(files, seen, keep), seen.any)
            except OtherVersion as old:
                return old

        def done(found: _Opened | OtherVersion) -> None:
            if isinstance(found, OtherVersion):
                self._offer_anew(found, files, then)
            else:
                self._show(found, files, then)

        names = " + ".join(path.name for path in files)
        self._tasks.start(f"Opening {names}", work, done)

    def _offer_anew(self, old: OtherVersion, files: Sequence[Path], then: ViewState | None) -> None:
        """Offer to rebuild a session of another version from its input files."""
        if not old.inputs:
            self._messages.error(str(old))
            return
        names = ", ".join(path.name for path in old.inputs)
        self._messages.error(
            f"{old.path.name}: {old.why}. Rebuild it from {names}? Notes and marks are kept.",
            ("Rebuild", lambda: self._make_anew(old, files, then)),
        )

    def _make_anew(self, old: OtherVersion, files: Sequence[Path], then: ViewState | None) -> None:
        inputs = ask_missing(self._window, old.inputs)
        if inputs is None:
            return

        def work(progress: Progress) -> None:
            from skbviewer.session import import_files  # slow to import

            import_files(inputs, old.path, progress)

        self._messages.clear()
        self._tasks.start(f"Rebuilding {old.path.name}", work, lambda _: self._start(files, then))

    def _related(self, files: Sequence[Path]) -> tuple[Path, ...]:
        """Return the open session, to keep its notes, if one of `files` is among its inputs."""
        now = self._selection.recording
        if now is None:
            return ()
        inputs = {Path(source.path) for source in now.sources()}
        return (now.file,) if inputs & {path.absolute() for path in files} else ()

    def _show(self, opened: _Opened, files: Sequence[Path], then: ViewState | None) -> None:
        self.files = tuple(path.absolute() for path in files)
        self._view.show_recording(opened.recording, " + ".join(path.name for path in files))
        recent_files.remember(files)
        self._report_missing(opened.recording)
        if then is not None:
            self._view.restore(then)
        if opened.imported and QSettings().value("import_summary", "true") != "false":
            self._report_import(opened.recording)

    def _report_import(self, recording: Recording) -> None:
        """Show the result of an import in the banner, unless the banner names missing files."""
        if not self._messages.is_shown:
            link = ("Summary…", self.show_summary)
            self._messages.hint(import_line(recording), link)

    def _match_again(self, recording: Recording) -> None:
        """Match the session again with this program's rules, and keep the view."""
        at = ask_missing(self._window, [Path(source.path) for source in recording.sources()])
        if at is None:
            return
        files, view = self.files, self._view.view_state()

        def work(progress: Progress) -> None:
            match_again(recording.file, progress, at)

        self._tasks.start(
            f"Matching {recording.file.name} again", work, lambda _: self._start(files, view)
        )

    def _report_missing(self, recording: Recording) -> None:
        gone = missing_sources(recording)
        hint = missing(recording)
        other = rules_words(recording.rules())
        if other:
            self._report_rules(recording, other, hint)
            return
        if gone and any(path.suffix == SESSION for path in self.files):
            names = ", ".join(Path(source.path).name for source in gone)
            there, whose = ("it was", "Its") if len(gone) == 1 else ("they were", "Their")
            self._messages.hint(
                f"{names}: no longer where {there} when the session was made. {whose} packets' "
                "bytes and raw records cannot be shown; everything else can.",
                ("Locate…", self.locate),
            )
        elif hint is not None:
            self._messages.hint(hint)

    def _report_rules(self, recording: Recording, other: str, hint: str | None) -> None:
        """Say that other rules made the verdicts; if the rules are older, offer to match again."""
        text = f"{recording.file.name}: its verdicts were made by {other}."
        older = are_older(recording.rules())
        if older:
            text += " You can match the session's files again; notes and marks are kept."
        link = ("Match Again", lambda: self._match_again(recording)) if older else None
        self._messages.hint("\n".join(filter(None, [text, hint])), link)

    def ask(self) -> None:
        """Ask the user for files, and open these."""
        folder = str(QSettings().value("folder", ""))
        names, _ = QFileDialog.getOpenFileNames(self._window, "Open", folder, FILES)
        if names:
            QSettings().setValue("folder", str(Path(names[0]).parent))
            self.open([Path(name) for name in names])

    def open_recent(self, entry: Sequence[Path]) -> None:
        """Open the files `entry`, which were open before; ask where they are if they have moved."""
        self.open_again(entry, None)

    def open_again(self, entry: Sequence[Path], then: ViewState | None) -> None:
        """Open the files `entry`, which were open before, with the view `then`.

        If files have moved, the user is asked where they are now.
        """
        found = ask_missing(self._window, entry)
        if found is not None:
            self._start(found, then)

    def open_bundled(self, name: str = bundled_recordings.NAME) -> None:
        """Open a recording that comes with the program."""
        try:
            self.open(bundled_recordings.bundled_files(name))
        except FileNotFoundError as error:
            self._messages.error(str(error))

    def reload(self) -> None:
        """Read the open files again; the filter, the current row and the columns stay."""
        if self.files:
            self.open_again(self.files, self._view.view_state())

    def restore(self) -> None:
        """Open the files that were open last, with the view on them at that time."""
        state = restored_view.last()
        if state is None or not state.files:
            self._messages.hint("No files were open before, so there is no view to restore.")
        else:
            self.open_again(state.paths(), state)

    def save(self) -> None:
        """Save a session that has no name yet. Notes and marks are always saved immediately."""
        recording = self._selection.recording
        if recording is None:
            return
        if [path.suffix for path in self.files] == [SESSION]:
            self._messages.say("Everything is saved")
        else:
            self.save_as()

    def save_as(self) -> None:
        """Save the session under another name and continue with that file."""
        recording = self._selection.recording
        if recording is None:
            return
        first = self.files[0] if self.files else Path("session")
        name, _ = QFileDialog.getSaveFileName(
            self._window, "Save Session As", str(first.with_suffix(SESSION)), SESSIONS
        )
        if not name:
            return
        out = Path(name) if Path(name).suffix else Path(name).with_suffix(SESSION)
        state = self._view.view_state()

        def work(progress: Progress) -> _Opened:
            recording.save_as(out, progress)
            return _Opened(self._opener([out], progress, ()), False)

        self._tasks.start(
            f"Saving {out.name}", work, lambda opened: self._show(opened, [out], state)
        )

    def locate(self) -> None:
        """Ask where the captures and KBLs of the session are now."""
        recording = self._selection.recording
        if recording is None:
            return
        gone = missing_sources(recording)
        if not gone:
            self._messages.say("No file has moved")
            return
        found = ask_missing(self._window, [Path(source.path) for source in gone])
        if found is None:
            return
        pairs = [(s.id, path) for s, path in zip(gone, found, strict=True)]

        def work(progress: Progress) -> None:
            for done, (source, path) in enumerate(pairs):
                progress.report(f"Comparing {path.name}", done, len(pairs))
                recording.relocate(source, path)

        self._tasks.start("Comparing", work, lambda _: self._show_located())

    def _show_located(self) -> None:
        """Read the bytes of the selected packet again."""
        self._messages.clear()
        selection = self._selection
        if selection.row is not None:
            selection.choose_row(selection.row)

    def show_summary(self) -> None:
        """Open Statistics > Summary."""
        if self._selection.recording is not None:
            self.summary = ImportSummary(self._selection.recording, self._window)
            self.summary.show()
