# SPDX-License-Identifier: MIT
"""The recordings that come with the program."""

from __future__ import annotations

from pathlib import Path

from skbviewer.records.resource_files import resource

NAME = "handshake"  # the one to start with


def bundled_files(name: str = NAME) -> tuple[Path, ...]:
    """Return the files of the bundled recording `name`.  Raises FileNotFoundError."""
    folder = resource(f"samples/{name}")
    return folder / f"{name}.kbl", folder / f"{name}.pcap"


def titles() -> dict[str, str]:
    """Return the titles of the bundled recordings, by name; NAME comes first.

    A title is the first heading of the recording's README.
    """
    folders = sorted(path.parent for path in resource("samples").glob("*/README.md"))
    found = {folder.name: _title(folder / "README.md") for folder in folders}
    return {NAME: found.pop(NAME)} | found if NAME in found else found


def _title(readme: Path) -> str:
    lines = readme.read_text(encoding="utf-8").splitlines()
    return next(line.removeprefix("# ") for line in lines if line.startswith("# "))
