# SPDX-License-Identifier: MIT
"""Lanes and boxes of a session's calls over time."""
