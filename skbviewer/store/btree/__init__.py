# SPDX-License-Identifier: MIT
"""SQLite's b-tree pages, laid out in arrays (sqlite.org/fileformat2.html)."""
