# SPDX-License-Identifier: MIT
"""Open files for the Python API."""

from __future__ import annotations

import os
from pathlib import Path

from ..session import open_files
from .recording import Recording


def open_recording(*files: str | os.PathLike[str]) -> Recording:
    """Open a session, or import captures and kernel logs into a session that is cached.

    Raises BadInput if a file cannot be used, and TypeError if no file is given.
    """
    if not files:
        raise TypeError("open() needs a session, or captures and kernel logs")
    return Recording(open_files([Path(file) for file in files]))
