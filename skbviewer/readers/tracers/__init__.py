# SPDX-License-Identifier: MIT
"""Logs of other tracers: points without returns, as kernel logs."""
