# SPDX-License-Identifier: MIT
"""The packet list: its model, columns, rows, marks and colours."""
