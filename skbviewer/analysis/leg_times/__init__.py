# SPDX-License-Identifier: MIT
"""Divide the time of legs and packets into busy time and waits; find incomplete legs."""
