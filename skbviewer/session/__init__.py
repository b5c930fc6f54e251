# SPDX-License-Identifier: MIT
"""Open, import, match and export sessions.

The command line and the window get all data through this package.
"""

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .importing import ImportResult, import_files
    from .opening import cached_session, open_files
    from .session import Session

__all__ = ["ImportResult", "Session", "cached_session", "import_files", "open_files"]

# Loading the dissectors and the fields of the display filter takes as long as importing a hundred
# thousand packets, and an import needs neither.  Reading a session needs none of the import code.
_LATER = {
    "ImportResult": ".importing",
    "Session": ".session",
    "cached_session": ".opening",
    "import_files": ".importing",
    "open_files": ".opening",
}


def __getattr__(name: str) -> object:
    """Import the module of a name in _LATER when the name is first used."""
    if name not in _LATER:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(_LATER[name], __name__), name)
