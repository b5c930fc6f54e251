# SPDX-License-Identifier: MIT
"""Calls: their nesting, their own time, and what interrupted them."""
