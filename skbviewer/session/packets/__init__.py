# SPDX-License-Identifier: MIT
"""Rows of the packet list, and the headers and payload of one packet."""
