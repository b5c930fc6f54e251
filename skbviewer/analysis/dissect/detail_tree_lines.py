# SPDX-License-Identifier: MIT
"""The detail tree of a packet: lines, each with the bytes that it describes.

Header layouts come from dpkt (their `__hdr__`), words from Wireshark.
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Sequence
from functools import cache
from typing import Any, Literal, NamedTuple

Format = Callable[[int], str]


class Node(NamedTuple):
    """A line of the tree.  `offset` and `length` count bytes of the captured packet.

    `field` and `value` make a display filter ("ip.ttl", "64"); both are "" if there is none.
    `packet` is the number of another packet that the line refers to, 0 = none.
    """

    text: str
    offset: int
    length: int
    children: tuple[Node, ...] = ()
    field: str = ""
    value: str = ""
    packet: int = 0


class Spec(NamedTuple):
    """One header field: dpkt's name, Wireshark's label and filter name, and the number's format.

    With `mask`, it is the part of dpkt's field under these bits, shifted down.
    """

    name: str
    label: str
    field: str = ""
    format: Format = str
    mask: int = 0


class Step(NamedTuple):
    """A dissected header; `following` is the kind of the next one, at byte `at`; "" = none."""

    node: Node
    following: str
    at: int
    end: int  # of the payload


@cache
def field_places(header: Any) -> dict[str, tuple[int, int]]:
    """Return (offset, length) of each field of a dpkt header class."""
    found, at = {}, 0
    for name, form, _ in header.__hdr__:
        size = struct.calcsize(f"{_order(header)}{form}")
        found[name] = (at, size)
        at += size
    return found


def _order(header: Any) -> str:
    """Return the prefix of a header's format for struct; dpkt has none for network byte order."""
    return getattr(header, "__byte_order__", ">")


def fields(data: bytes, at: int, header: Any, specs: Sequence[Spec]) -> tuple[Node, ...]:
    """Return a line for each field in `specs` of a header at byte `at` of the packet `data`.

    `header` is dpkt's class of the header, which gives offsets, sizes and byte order.
    """
    order: Literal["little", "big"] = "little" if _order(header) == "<" else "big"
    nodes = []
    for spec in specs:
        offset, length = field_places(header)[spec.name]
        raw = data[at + offset : at + offset + length]
        value = int.from_bytes(raw, order)
        if spec.mask:
            value = (value & spec.mask) >> ((spec.mask & -spec.mask).bit_length() - 1)
        text = spec.format(value)
        nodes.append(
            Node(f"{spec.label}: {text}", at + offset, length, (), spec.field, _word(text))
        )
    return tuple(nodes)


def _word(text: str) -> str:
    """Return the value without its explanation: "6" of "TCP (6)", "0x0800" of "IPv4 (0x0800)"."""
    if text.endswith(")") and " (" in text:
        return text[text.rindex("(") + 1 : -1]
    return text.split(" ")[0]


def hexadecimal(digits: int) -> Format:
    """Return a function that formats a number: "0x0800" for four digits."""
    return lambda value: f"0x{value:0{digits}x}"


def name_format(names: dict[int, str], form: Format = str) -> Format:
    """Return a function that formats a number: "TCP (6)", or only the number without a name."""
    return lambda value: f"{names[value]} ({form(value)})" if value in names else form(value)


def flag(value: int) -> str:
    """Return the text of a flag, with its value in filters: "Set (1)" or "Not set (0)"."""
    return "Set (1)" if value else "Not set (0)"
