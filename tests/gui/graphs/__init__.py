# SPDX-License-Identifier: MIT
"""Tests of skbviewer.gui.graphs."""
