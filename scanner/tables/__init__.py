# SPDX-License-Identifier: MIT
"""Make the three tables of packet functions from the facts of a tree."""
