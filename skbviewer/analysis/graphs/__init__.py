# SPDX-License-Identifier: MIT
"""The data of the graphs in the Statistics menu, as arrays."""
