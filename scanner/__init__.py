# SPDX-License-Identifier: MIT
"""Finds which functions of a C source tree handle a struct; nothing of it is written yet."""
