# SPDX-License-Identifier: MIT
"""The graphs of the Statistics menu."""
