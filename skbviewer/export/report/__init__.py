# SPDX-License-Identifier: MIT
"""A report about a recording: one HTML file that needs no other file."""

from .report import Paint, write_page
from .report_contents import Facts, facts_of

__all__ = ["Facts", "Paint", "facts_of", "write_page"]
