# SPDX-License-Identifier: MIT
"""Logs of other tracers."""
