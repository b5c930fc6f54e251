# SPDX-License-Identifier: MIT
"""The window: the only package that uses Qt.  The window shows what a session answers."""
