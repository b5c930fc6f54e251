# SPDX-License-Identifier: MIT
"""Finds which functions of a C source tree handle a struct, by default ``struct sk_buff``."""
