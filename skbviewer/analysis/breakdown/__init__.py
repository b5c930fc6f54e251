# SPDX-License-Identifier: MIT
"""Where the time in kernel of each packet went, and packets that took the same path."""
