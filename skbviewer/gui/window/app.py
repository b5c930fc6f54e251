# SPDX-License-Identifier: MIT
"""Start the window."""

from __future__ import annotations

import os
import sys
import traceback
from collections.abc import Sequence
from pathlib import Path
from types import TracebackType

from PySide6.QtGui import QIcon
from PySide6.QtWidgets import QApplication, QMessageBox

from skbviewer.records.resource_files import resource
from skbviewer.session import open_files

from ..base.garbage_collection import collected_in_this_thread
from ..base.recording_interface import Opener
from ..files.restored_view import ViewState
from .main_window import MainWindow

NO_DISPLAY = (
    "skbviewer: no display (neither DISPLAY nor WAYLAND_DISPLAY is set): the window cannot open. "
    "The commands need no display: see skbviewer --help"
)


def has_display() -> bool:
    """Return whether Qt can find a display.  Without a display, Qt would abort the process."""
    wanted = ("DISPLAY", "WAYLAND_DISPLAY", "QT_QPA_PLATFORM")
    return not sys.platform.startswith("linux") or any(os.environ.get(name) for name in wanted)


def application() -> QApplication:
    """Return the QApplication; if none exists yet, create it."""
    app = QApplication.instance()
    if not isinstance(app, QApplication):
        app = QApplication(sys.argv[:1])
        app.setStyle("Fusion")
    app.setApplicationName("skbviewer")
    app.setOrganizationName("skbviewer")
    app.setDesktopFileName("skbviewer")
    app.setWindowIcon(QIcon(str(resource("icons/skbviewer.svg"))))
    return app


def run(
    paths: Sequence[Path],
    opener: Opener | None = None,
    goto: int = 0,
    display_filter: str = "",
) -> int:
    """Show the window with `paths` open until it is closed; return the process's exit code.

    `goto` is the row to select: n = packet n, -n = K<n>, 0 = the first.  `display_filter` must be
    valid; "" is no filter.  `opener` opens files; None stands for the usual function.
    """
    if not has_display():
        print(NO_DISPLAY, file=sys.stderr)
        return 2
    app = application()
    sys.excepthook = report_bug
    with collected_in_this_thread(app):
        window = MainWindow(opener or open_files)
        window.show()
        window.open_files(paths, first_view(paths, goto, display_filter))
        return app.exec()


def first_view(paths: Sequence[Path], goto: int, display_filter: str) -> ViewState | None:
    """Return the view with which the window opens; None if no view is asked for.

    The window shows `paths`, selects row `goto` (n for packet n, -n for row K<n>), and applies the
    display filter.  No view is asked for if `goto` is 0 and `display_filter` is "".
    """
    if not goto and not display_filter:
        return None
    files = tuple(str(path) for path in paths)
    return ViewState(files, display_filter, kernel_only=goto < 0, row=goto)


def report_bug(
    kind: type[BaseException], error: BaseException, trace: TracebackType | None
) -> None:
    """Report a bug of skbviewer: a traceback on stderr, and one line in a message box."""
    traceback.print_exception(kind, error, trace)
    line = f"Internal error: {kind.__name__}: {error}. Please report the details in the terminal."
    QMessageBox.critical(QApplication.activeWindow(), "skbviewer", line)
