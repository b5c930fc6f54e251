# SPDX-License-Identifier: MIT
"""Which part of the connections or packets a sampled kernel log has, in words."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any


def sampling_text(rate: int, seed: int, of_packets: bool = False, sound: bool = True) -> str:
    """Return "one connection in 50 was recorded, hash seed 0"; see matching.Sample."""
    text = f"one {unit(of_packets)} in {rate} was recorded, hash seed {seed}"
    if sound:
        return text
    return f"{text}; packets may have been segmented, merged or rewritten, so more may be missing"


def sampling_text_of(one: Mapping[str, Any]) -> str:
    """Return the text for an item of `sampling` in the JSON of `skbviewer info`."""
    return sampling_text(one["rate"], one["seed"], one["of_packets"], one["sound"])


def unit(of_packets: bool) -> str:
    """Return what a sample counts."""
    return "packet" if of_packets else "connection"
