# SPDX-License-Identifier: MIT
"""Open, import, match, export: the only door to the data for the command line and the window."""

from .importing import ImportResult, cached_session, import_files, open_files
from .session import Session

__all__ = ["ImportResult", "Session", "cached_session", "import_files", "open_files"]
