# SPDX-License-Identifier: MIT
"""Divide the times of legs and packets into busy time and waits; find incomplete legs."""
