# SPDX-License-Identifier: MIT
"""Session files: one SQLite database each.

This package contains all SQL statements of the program.
"""

from importlib import import_module
from typing import TYPE_CHECKING

from . import schema
from .new_rows import BulkRows, FewRows, NewRows, of_columns
from .session_builder import Builder
from .session_files import inputs_of, is_session

if TYPE_CHECKING:
    from . import annotation_anchors, annotation_tables, packet_list_queries, queries
    from .database import Database, open_session
    from .whole_columns import Columns

__all__ = [
    "Builder",
    "BulkRows",
    "Columns",
    "Database",
    "FewRows",
    "NewRows",
    "annotation_anchors",
    "annotation_tables",
    "inputs_of",
    "is_session",
    "of_columns",
    "open_session",
    "packet_list_queries",
    "queries",
    "schema",
]

# Only readers of a session need these modules, so an import, which makes one, does not load them.
_LATER = {"Columns": ".whole_columns", "Database": ".database", "open_session": ".database"}


def __getattr__(name: str) -> object:
    """Import the modules that read sessions only when one of their names is first used."""
    if name not in _LATER:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(_LATER[name], __name__), name)
