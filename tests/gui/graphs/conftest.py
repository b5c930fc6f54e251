# SPDX-License-Identifier: MIT
"""Fixtures of the graphs."""

from .opened_window import bulk, sample_window

__all__ = ["bulk", "sample_window"]
