# SPDX-License-Identifier: MIT
"""The latency timeline: lanes of calls, markers, overview."""
