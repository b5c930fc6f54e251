# SPDX-License-Identifier: MIT
"""The recordings that come with the program."""

from __future__ import annotations

from pathlib import Path

from skbviewer.records.resource import resource

NAME = "handshake"  # the one to begin with


def bundled(name: str = NAME) -> tuple[Path, ...]:
    """The files of a bundled recording.  Raises FileNotFoundError if it does not come with it."""
    folder = resource(f"samples/{name}")
    return folder / f"{name}.kbl", folder / f"{name}.pcap"


def titles() -> dict[str, str]:
    """What each bundled recording shows, by name, as its README is headed; NAME comes first."""
    folders = sorted(path.parent for path in resource("samples").glob("*/README.md"))
    found = {folder.name: _title(folder / "README.md") for folder in folders}
    return {NAME: found.pop(NAME)} | found if NAME in found else found


def _title(readme: Path) -> str:
    lines = readme.read_text(encoding="utf-8").splitlines()
    return next(line.removeprefix("# ") for line in lines if line.startswith("# "))
