# SPDX-License-Identifier: MIT
"""Which packets of two hosts are the same, and how far apart the hosts' clocks are."""
