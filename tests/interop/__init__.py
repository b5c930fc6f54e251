# SPDX-License-Identifier: MIT
"""Exported files, read by programs that are too large for `make test`: `make interop`."""
