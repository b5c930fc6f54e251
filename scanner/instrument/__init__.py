# SPDX-License-Identifier: MIT
"""Plan, insert and remove probes in the source of packet functions."""
