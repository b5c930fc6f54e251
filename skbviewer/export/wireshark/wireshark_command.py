# SPDX-License-Identifier: MIT
"""Write packets into a temporary folder, and return the command that opens them in Wireshark."""

from __future__ import annotations

import shutil
from collections.abc import Mapping
from contextlib import ExitStack
from pathlib import Path
from tempfile import mkdtemp

from ..formats import Exportable, Request
from .install import is_installed
from .pcapng import write_pcapng
from .profile import CONFIGURATION, PLUGINS, wireshark_files

# Wireshark reads the file as long as it runs, perhaps longer than the window that started it.
RUN_AND_REMOVE = '"$@"; rm -r -- "$0"'


def command_for_wireshark(
    recording: Exportable, request: Request, program: str, where: Mapping[str, Path]
) -> list[str]:
    """Write the packets of `request` and return the command that shows them in Wireshark.

    `program` is the path of Wireshark; `where` has Wireshark's folders (see install.folders()). The
    command uses the profile if it is installed. If the script is not installed, the command passes
    the script to Wireshark. When Wireshark ends, the command removes the files. Raises Cancelled,
    and whatever write_pcapng() raises.
    """
    folder = Path(mkdtemp(prefix="skbviewer-"))
    with ExitStack() as on_failure:
        on_failure.callback(shutil.rmtree, folder, ignore_errors=True)
        capture = folder / "skbviewer.pcapng"
        write_pcapng(recording, request, capture)
        options = _options(folder, where)
        on_failure.pop_all()
    return ["sh", "-c", RUN_AND_REMOVE, str(folder), program, *options, "-r", str(capture)]


def _options(folder: Path, where: Mapping[str, Path]) -> list[str]:
    """Return the options of Wireshark that load the script and the profile.

    Two copies of the script would register the fields twice, which Wireshark refuses.
    """
    options = ["-C", "skbviewer"] if is_installed(where, CONFIGURATION) else []
    if is_installed(where, PLUGINS):
        return options
    script = folder / "skbviewer.lua"
    script.write_text(wireshark_files()[0].text, encoding="utf-8")
    return [*options, "-X", f"lua_script:{script}"]
