# SPDX-License-Identifier: MIT
"""Clocks of captures and kernel logs, fitted to each other."""
