# SPDX-License-Identifier: MIT
"""Tests of matching across hosts."""
