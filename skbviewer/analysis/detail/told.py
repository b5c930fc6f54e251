# SPDX-License-Identifier: MIT
"""What is told of a payload."""

from __future__ import annotations

from typing import NamedTuple


class Line(NamedTuple):
    """A line of the detail tree and the bytes of the payload it tells of."""

    text: str
    offset: int
    length: int


class Told(NamedTuple):
    """A protocol's name as Wireshark's column has it, its Info, and a line for each thing in it."""

    protocol: str
    info: str
    lines: tuple[Line, ...]
