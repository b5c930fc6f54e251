# SPDX-License-Identifier: MIT
"""The window: the only package that uses Qt.  It shows the answers of a session."""
