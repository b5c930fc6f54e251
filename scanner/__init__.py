# SPDX-License-Identifier: MIT
"""Find the functions of a C source tree that handle a struct, by default ``struct sk_buff``."""
