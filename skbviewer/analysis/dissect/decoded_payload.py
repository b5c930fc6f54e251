# SPDX-License-Identifier: MIT
"""The result of decoding a payload."""

from __future__ import annotations

from typing import NamedTuple


class Line(NamedTuple):
    """A line of the detail tree, and the bytes of the payload that it describes."""

    text: str
    offset: int
    length: int


class PayloadSummary(NamedTuple):
    """Wireshark's name of the protocol, its Info, and the lines of the detail tree."""

    protocol: str
    info: str
    lines: tuple[Line, ...]
