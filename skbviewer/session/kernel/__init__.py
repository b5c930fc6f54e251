# SPDX-License-Identifier: MIT
"""The kernel's part of an open session: paths, calls, clocks, statistics and timeline."""
