# SPDX-License-Identifier: MIT
"""The types of a decoded payload."""

from __future__ import annotations

from typing import NamedTuple


class Line(NamedTuple):
    """A line of the detail tree, and the position of the payload's bytes that it describes."""

    text: str
    offset: int
    length: int


class PayloadSummary(NamedTuple):
    """A decoded payload: Wireshark's protocol name, its Info, and lines of the detail tree."""

    protocol: str
    info: str
    lines: tuple[Line, ...]
