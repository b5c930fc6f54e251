# SPDX-License-Identifier: MIT
"""Session files: one SQLite database each.  All SQL of the program is in this package."""

from . import anchors, annotations, queries, row_queries, schema
from .build import Builder
from .columns import Columns
from .database import is_session, open_session

__all__ = [
    "Builder",
    "Columns",
    "anchors",
    "annotations",
    "is_session",
    "open_session",
    "queries",
    "row_queries",
    "schema",
]
