# SPDX-License-Identifier: MIT
"""From prepared text to facts: tree-sitter first, then pycparser."""
