# SPDX-License-Identifier: MIT
"""Tests of skbviewer.gui.packet_panes."""
