# SPDX-License-Identifier: MIT
"""A report about a recording: one HTML file that needs no other file."""

from .facts import Facts, facts_of
from .report import Paint, write_page

__all__ = ["Facts", "Paint", "facts_of", "write_page"]
