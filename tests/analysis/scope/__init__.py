# SPDX-License-Identifier: MIT
"""Tests of skbviewer.analysis.scope."""
