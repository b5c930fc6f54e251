# SPDX-License-Identifier: MIT
"""Session files: one SQLite database each.  All SQL of the program is in this package."""

from . import anchors, annotations, queries, schema
from .build import Builder
from .database import is_session, open_session

__all__ = [
    "Builder",
    "anchors",
    "annotations",
    "is_session",
    "open_session",
    "queries",
    "schema",
]
