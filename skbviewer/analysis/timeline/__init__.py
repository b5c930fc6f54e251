# SPDX-License-Identifier: MIT
"""The calls of a session over time, as boxes in lanes."""
