# SPDX-License-Identifier: MIT
"""The contents of the graphs in the Statistics menu, as arrays."""
