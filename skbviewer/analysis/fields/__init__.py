# SPDX-License-Identifier: MIT
"""The fields of display filters, columns and sorting."""
