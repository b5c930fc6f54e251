# SPDX-License-Identifier: MIT
"""Executed instructions of the kernel and of its probes, counted by a plugin of the emulator."""
