# SPDX-License-Identifier: MIT
"""Open, import, match, export: the only door to the data for the command line and the window."""

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .importing import ImportResult, import_files
    from .opening import cached_session, open_files
    from .session import Session

__all__ = ["ImportResult", "Session", "cached_session", "import_files", "open_files"]

# An import needs no dissectors and no fields of the display filter, which take as long to import
# as a hundred thousand packets; who looks at a session needs nothing that makes one.
_LATER = {
    "ImportResult": ".importing",
    "Session": ".session",
    "cached_session": ".opening",
    "import_files": ".importing",
    "open_files": ".opening",
}


def __getattr__(name: str) -> object:
    """Imported when it is asked for."""
    if name not in _LATER:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(_LATER[name], __name__), name)
