# SPDX-License-Identifier: MIT
"""The detail tree of a packet: lines, each with the bytes that it describes.

The layouts of headers come from dpkt (`__hdr__`), the words from Wireshark.
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Sequence
from functools import cache
from typing import Any, Literal, NamedTuple

Format = Callable[[int], str]


class Node(NamedTuple):
    """A line of the detail tree.

    `field` and `value` make a display filter ("ip.ttl", "64"); both are "" if the line has none.
    `packet` is the number of another packet to which the line refers; 0 = none.  `offset` and
    `length` say which bytes of the captured packet the line describes.
    """

    text: str
    offset: int
    length: int
    children: tuple[Node, ...] = ()
    field: str = ""
    value: str = ""
    packet: int = 0


class Spec(NamedTuple):
    """One field of a header: dpkt's name, Wireshark's label and filter name, and the format.

    With a `mask`, the field is only the part of dpkt's field under the bits of the mask, shifted
    down.
    """

    name: str
    label: str
    field: str = ""
    format: Format = str
    mask: int = 0


class Step(NamedTuple):
    """The result of dissecting a header; the next one is of the kind `following`, at byte `at`.

    `following` is "" if there is no next header.
    """

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
    """Return the byte order of a dpkt header, in the form that struct needs."""
    return getattr(header, "__byte_order__", ">")


def fields(data: bytes, at: int, header: Any, specs: Sequence[Spec]) -> tuple[Node, ...]:
    """Return a line for each field `specs` of the header at byte `at` of the packet `data`.

    `header` is dpkt's class of the header, which knows offsets, sizes and byte order.
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
    """Return a value without its explanation: "6" for "TCP (6)", "0x0800" for "IPv4 (0x0800)"."""
    if text.endswith(")") and " (" in text:
        return text[text.rindex("(") + 1 : -1]
    return text.split(" ")[0]


def hexadecimal(digits: int) -> Format:
    """Return a function that formats a number with `digits` hexadecimal digits, as "0x0800"."""
    return lambda value: f"0x{value:0{digits}x}"


def name_format(names: dict[int, str], form: Format = str) -> Format:
    """Return a function that formats a number as "TCP (6)", or as "6" if it has no name."""
    return lambda value: f"{names[value]} ({form(value)})" if value in names else form(value)


def flag(value: int) -> str:
    """Return the text of a flag with its value in filters: "Set (1)" or "Not set (0)"."""
    return "Set (1)" if value else "Not set (0)"
