# SPDX-License-Identifier: MIT
"""Tests of skbviewer.gui.pictures."""
