# SPDX-License-Identifier: MIT
"""File > Open in Wireshark: the displayed packets with the kernel's fields."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

from PySide6.QtCore import QProcess

from skbviewer.export import Request
from skbviewer.export.wireshark.install import folders
from skbviewer.export.wireshark.wireshark_command import command_for_wireshark
from skbviewer.records import Progress

from ..base.background_tasks import Tasks
from ..base.messages import LONG_MS, Messages
from ..base.recording_interface import Recording

NOT_FOUND = (
    "Wireshark is not installed. For Wireshark on another machine, use File > Export Timeline… "
    "to write the packets as pcapng."
)


def open_in_wireshark(
    recording: Recording | None, text: str, tasks: Tasks, messages: Messages
) -> None:
    """Write the packets that match the display filter `text`, and open them in Wireshark."""
    if recording is None:
        return
    program = shutil.which("wireshark")
    if program is None:
        messages.error(NOT_FOUND)
        return
    where = folders(os.environ, Path.home())

    def work(progress: Progress) -> list[str]:
        request = Request(filter=text, progress=progress)
        return command_for_wireshark(recording, request, program, where)

    tasks.start("Writing packets for Wireshark", work, lambda command: _start(command, messages))


def _start(command: list[str], messages: Messages) -> None:
    started, _ = QProcess.startDetached(command[0], command[1:])
    if started:
        messages.say("Wireshark shows the displayed packets", LONG_MS)
    else:
        messages.error(f"cannot start {command[0]}")
