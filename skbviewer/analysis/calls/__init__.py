# SPDX-License-Identifier: MIT
"""Calls: their nesting, their self time, and their interruptions."""
