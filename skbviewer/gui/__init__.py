# SPDX-License-Identifier: MIT
"""The window: the only package that knows Qt.  It shows what a session answers and asks again."""
