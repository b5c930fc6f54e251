# SPDX-License-Identifier: MIT
"""The files that tests/remade/record.py keeps, and what they were recorded with."""

from __future__ import annotations

import functools
import tarfile
import tempfile
from datetime import UTC, datetime
from pathlib import Path

from tests.kept_archives import unpack

FOLDER = Path(__file__).resolve().parent / "recorded"
GUEST = FOLDER / "guest.tar.xz"
SIZES = (64, 128, 256, 512, 1024, 1448)  # bytes that a round trip sends, and gets back


class CaptureClock:
    """The clock of the emulator, which captures; and how far the guest's wall clock is behind."""

    BEGIN = "2026-11-28T00:00:00"
    BEHIND_S = 2

    @classmethod
    def begin_s(cls) -> int:
        """Return the time at which the emulator's clock begins, in seconds since 1970."""
        return int(datetime.fromisoformat(cls.BEGIN).replace(tzinfo=UTC).timestamp())


@functools.cache
def guest_files() -> Path:
    """Return the folder of the guest's files, unpacked."""
    folder = Path(tempfile.mkdtemp(prefix="remade-guest-"))
    unpack(GUEST, folder)
    return folder


def keep(files: list[Path]) -> None:
    """Keep a guest's files in the repository."""
    FOLDER.mkdir(exist_ok=True)
    with tarfile.open(GUEST, "w:xz") as archive:
        for path in files:
            archive.add(path, path.name)
