# SPDX-License-Identifier: MIT
"""From facts to the three tables of packet functions."""
