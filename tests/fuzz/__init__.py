# SPDX-License-Identifier: MIT
"""Fuzzing of readers, by hand: not part of `make test`."""
