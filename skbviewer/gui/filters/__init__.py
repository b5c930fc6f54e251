# SPDX-License-Identifier: MIT
"""Typing, keeping and making display filters, and finding packets."""
