# SPDX-License-Identifier: MIT
"""Tests of skbviewer.analysis.executed_instructions."""
