# SPDX-License-Identifier: MIT
"""Tests of skbviewer.analysis.leg_times."""
