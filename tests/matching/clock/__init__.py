# SPDX-License-Identifier: MIT
"""Tests of skbviewer.matching.clock."""
