# SPDX-License-Identifier: MIT
"""The recording that comes with the program."""

from __future__ import annotations

from pathlib import Path

from skbviewer.records.resource import resource

NAME = "handshake"


def bundled() -> tuple[Path, ...]:
    """The files of the bundled recording."""
    folder = resource(f"samples/{NAME}")
    return folder / f"{NAME}.kbl", folder / f"{NAME}.pcap"
