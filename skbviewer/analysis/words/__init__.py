# SPDX-License-Identifier: MIT
"""Names and sentences for what records and packets hold."""
