# SPDX-License-Identifier: MIT
"""A report about a recording: one HTML file that needs nothing else."""

from .report import Paint, write_report

__all__ = ["Paint", "write_report"]
