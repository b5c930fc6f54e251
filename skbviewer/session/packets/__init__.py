# SPDX-License-Identifier: MIT
"""Rows of the packet list, and one packet's headers and payload."""
