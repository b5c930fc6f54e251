# SPDX-License-Identifier: MIT
"""Tables and joins of long arrays, and loops over their blocks, for compiled code."""
