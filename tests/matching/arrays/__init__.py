# SPDX-License-Identifier: MIT
"""Tests of skbviewer.matching.arrays."""
