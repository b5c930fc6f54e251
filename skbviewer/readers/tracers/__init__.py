# SPDX-License-Identifier: MIT
"""Logs of other tracers, read as kernel logs: their points are records without returns."""
