# SPDX-License-Identifier: MIT
"""Decide which packets of two hosts are the same, and how far apart the hosts' clocks are."""
