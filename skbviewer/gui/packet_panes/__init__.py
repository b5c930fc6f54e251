# SPDX-License-Identifier: MIT
"""Panes about the selected packet: its calls, headers, bytes and sources."""
