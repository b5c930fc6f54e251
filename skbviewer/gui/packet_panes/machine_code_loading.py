# SPDX-License-Identifier: MIT
"""Disassemble a function for the pane of machine code, outside the window's thread."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from skbviewer.records import BadInput, Progress

from ..base.recording_interface import RecordedCode

if TYPE_CHECKING:
    from skbviewer.analysis.disassembly import Disassembly
    from skbviewer.analysis.disassembly.jump_arrow_layout import Arrow


class CodeFiles(NamedTuple):
    """The files beside a recording that show a function's code and how often it was executed.

    An `image` that does not fit the recorded code is left out if it is from the settings, and
    refused if the user has just `chosen` it.
    """

    image: Path | None = None
    counts: Path | None = None
    chosen: bool = False


class LoadedCode(NamedTuple):
    """A function's code and the arrows of its jumps.

    `refused` says why the file with counts was not used; "" if it was used, or if there is none.
    """

    shown: Disassembly
    arrows: tuple[Arrow, ...]
    refused: str


def load_code(
    code: RecordedCode, function: str, files: CodeFiles, progress: Progress
) -> LoadedCode:
    """Return the machine code of `function`, with the number of executions of each instruction.

    The numbers of executions are left out if the code is from an image, or if their file is
    refused.  Raises BadInput if there is no code, or if the image is refused, and Cancelled.
    """
    from skbviewer.analysis.disassembly.jump_arrow_layout import arrows_of

    shown, refused = _disassembled(code, function, files, progress), ""
    if files.counts is not None and shown.recorded:
        try:
            shown = code.counted(shown, files.counts)
        except BadInput as error:
            refused = str(error)
    return LoadedCode(shown, arrows_of(shown), refused)


def _disassembled(
    code: RecordedCode, function: str, files: CodeFiles, progress: Progress
) -> Disassembly:
    try:
        return code.disassemble(function, files.image, progress)
    except BadInput:
        if files.chosen or files.image is None or not code.is_recorded(function):
            raise
        return code.disassemble(function, None, progress)
