# SPDX-License-Identifier: MIT
"""The files of a C source tree, their directives, and their text before parsing."""
