# SPDX-License-Identifier: MIT
"""Session files: one SQLite database each.  All SQL of the program is in this package."""

from importlib import import_module
from typing import TYPE_CHECKING

from . import schema
from .build import Builder
from .files import inputs_of, is_session

if TYPE_CHECKING:
    from . import anchors, annotations, queries, row_queries
    from .columns import Columns
    from .database import open_session

__all__ = [
    "Builder",
    "Columns",
    "anchors",
    "annotations",
    "inputs_of",
    "is_session",
    "open_session",
    "queries",
    "row_queries",
    "schema",
]

# Only readers of a session need these modules, so an import, which makes one, does not load them.
_LATER = {"Columns": ".columns", "open_session": ".database"}


def __getattr__(name: str) -> object:
    """Import what reads a session when it is first used."""
    if name not in _LATER:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(_LATER[name], __name__), name)
