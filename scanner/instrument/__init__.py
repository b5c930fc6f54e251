# SPDX-License-Identifier: MIT
"""Probes in the source of packet functions: planned, written, undone."""
