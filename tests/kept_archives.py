# SPDX-License-Identifier: MIT
"""Unpack the recordings that the repository keeps as archives."""

from __future__ import annotations

import tarfile
from pathlib import Path
from typing import Any


def unpack(archive: Path, folder: Path) -> None:
    """Unpack `archive` into `folder`.

    Python 3.11.2, which Debian 12 has, knows no filters; later versions warn without one.
    """
    filters: dict[str, Any] = {"filter": "data"} if hasattr(tarfile, "data_filter") else {}
    with tarfile.open(archive) as files:
        files.extractall(folder, **filters)
