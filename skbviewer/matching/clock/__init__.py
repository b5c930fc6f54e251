# SPDX-License-Identifier: MIT
"""Fit the clocks of captures and kernel logs to each other."""
