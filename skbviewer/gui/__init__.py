# SPDX-License-Identifier: MIT
"""The window of skbviewer.  This is the only package that uses Qt.

The window shows what a session returns, and computes nothing itself.
"""
