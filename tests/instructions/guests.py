# SPDX-License-Identifier: MIT
"""Build the plugin and its programs in the guest; run the guest whose instructions it counts."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import NamedTuple

from tests.lab import debs, guest
from tests.lab.record import Built, run

PLUGIN = Path(__file__).resolve().parent / "plugin"
SOURCES = ("plugin", "flow", "marks", "symbols", "tables", "touches", "exceptions", "output")
WARN = ("-Wall", "-Wextra", "-Wno-unused-parameter", "-Werror")
TIMEOUT_S = 1800


class Counted(NamedTuple):
    """What a guest left: its folder, and the plugin's files in the order in which they ended."""

    out: Path
    files: list[Path]


def build_plugin(folder: Path) -> Path:
    """Compile the plugin below `folder`; returns the shared object."""
    plugin = folder / "instructions.so"
    sources = [str(PLUGIN / f"{name}.c") for name in SOURCES]
    flags = ("-O2", "-shared", "-fPIC", "-fvisibility=hidden")
    debs.run("gcc", *flags, *WARN, "-o", str(plugin), *sources)
    return plugin


def build_programs(folder: Path) -> list[Path]:
    """Compile the programs for the guest, static: they send the plugin addresses, and fault."""
    programs = [folder / "announce", folder / "faults"]
    for path in programs:
        source = str(PLUGIN / f"{path.name}.c")
        debs.run("gcc", "-O2", *WARN, "-static", "-o", str(path), source)
    return programs


def count(built: Built, words: tuple[str, ...] = (), step: str = "instructions") -> Counted:
    """Run the scenario `step` on one kernel; its words are those of guest.Run."""
    folder = built.folder / f"{step}-counts"
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir()
    devices = ("-plugin", f"{build_plugin(folder)},out={folder / 'counts'}")
    how = guest.Run((step,), words, True, timeout_s=TIMEOUT_S, devices=devices)
    more = built._replace(programs=[*built.programs, *build_programs(folder)])
    out = run(more, how, step)
    found = sorted(folder.glob("counts.*"), key=lambda path: int(path.suffix[1:]))
    return Counted(out, found)
