# SPDX-License-Identifier: MIT
"""Read facts from prepared text: tree-sitter first, then pycparser."""
