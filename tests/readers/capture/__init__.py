# SPDX-License-Identifier: MIT
"""Tests of skbviewer.readers.capture."""
