# SPDX-License-Identifier: MIT
"""What the graphs of the Statistics menu show, as arrays."""
