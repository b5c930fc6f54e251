# SPDX-License-Identifier: MIT
"""Tests of skbviewer.readers.kernel_image."""
