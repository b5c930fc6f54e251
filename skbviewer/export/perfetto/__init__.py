# SPDX-License-Identifier: MIT
"""Calls and events as a trace for Perfetto, https://ui.perfetto.dev."""
