# SPDX-License-Identifier: MIT
"""Divide the time in kernel of each packet into parts, and find packets that took the same path."""
