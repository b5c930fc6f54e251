# SPDX-License-Identifier: MIT
"""A C source tree's files, their directives and their text before parsing."""
