# SPDX-License-Identifier: MIT
"""Which part of the connections a sampled kernel log has, in words."""

from __future__ import annotations


def sampling_text(rate: int, seed: int) -> str:
    """Return "one connection in 50 was recorded, hash seed 0"."""
    return f"one connection in {rate} was recorded, hash seed {seed}"
