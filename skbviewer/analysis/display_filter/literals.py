# SPDX-License-Identifier: MIT
"""Read the values in a display filter, according to the type of the field."""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import UTC, datetime
from decimal import Decimal, InvalidOperation
from ipaddress import ip_network
from typing import NamedTuple

from ..fields.field_definition import Kind

_UNITS = {"ns": 1, "us": 10**3, "µs": 10**3, "ms": 10**6, "s": 10**9, "m": 60 * 10**9, "": 10**9}
_DURATION = re.compile(r"([+-]?\d*\.?\d+(?:[eE][+-]?\d+)?)\s*(ns|us|µs|ms|s|m|)")
_BYTES = re.compile(r"[0-9a-fA-F]{1,2}(?:([:.-])[0-9a-fA-F]{1,2})(?:\1[0-9a-fA-F]{1,2})*:?")
_TRUE, _FALSE = ("true", "yes", "1"), ("false", "no", "0")


class Range(NamedTuple):
    """The values from `first` to `last` (included); a single value is both of them."""

    first: int | float
    last: int | float


def _unsigned(text: str) -> Range:
    number = _integer(text)
    return Range(number, number)


def _integer(text: str) -> int:
    """Return a number that is decimal, 0x hexadecimal, 0b binary, or octal after a 0, as in C."""
    if re.fullmatch(r"0[0-7]+", text):
        return int(text, 8)
    if len(text) == 3 and text[0] == text[2] == "'":
        return ord(text[1])
    return int(text, 0)


def _boolean(text: str) -> Range:
    if text.lower() in _TRUE:
        return Range(1, 1)
    if text.lower() in _FALSE:
        return Range(0, 0)
    raise ValueError


def _ether(text: str) -> Range:
    digits = text.replace(":", "").replace("-", "").replace(".", "")
    grouped = re.fullmatch(r"(?:[0-9a-fA-F]{1,2}[:-]){5}[0-9a-fA-F]{1,2}", text)
    if grouped:
        digits = "".join(part.zfill(2) for part in re.split("[:-]", text))
    elif not re.fullmatch(r"[0-9a-fA-F]{4}\.[0-9a-fA-F]{4}\.[0-9a-fA-F]{4}", text):
        raise ValueError
    number = int(digits, 16)
    return Range(number, number)


def _ip(version: int) -> Callable[[str], Range]:
    def network(text: str) -> Range:
        """Return the range of addresses that an IP address or network covers."""
        found = ip_network(text, strict=False)
        if found.version != version:
            raise ValueError
        return Range(int(found.network_address), int(found.broadcast_address))

    return network


def _duration(text: str) -> Range:
    match = _DURATION.fullmatch(text.strip())
    if match is None:
        raise ValueError
    try:
        number = int(Decimal(match[1]) * _UNITS[match[2]])
    except InvalidOperation as error:
        raise ValueError from error
    return Range(number, number)


def _time(text: str) -> Range:
    """Return an ISO 8601 time with up to nine decimal places; without a time zone, it is UTC."""
    match = re.fullmatch(r"(.*?\d\d:\d\d:\d\d)(?:\.(\d{1,9}))?(Z|[+-]\d\d:?\d\d)?", text.strip())
    whole, fraction, zone = (match[1], match[2], match[3]) if match else (text.strip(), None, None)
    moment = datetime.fromisoformat(whole + (zone or ""))
    if moment.tzinfo is None:
        moment = moment.replace(tzinfo=UTC)
    since = moment - datetime(1970, 1, 1, tzinfo=UTC)
    number = (since.days * 86400 + since.seconds) * 10**9 + int((fraction or "0").ljust(9, "0"))
    return Range(number, number)


def _float(text: str) -> Range:
    return Range(float(text), float(text))


_READ: dict[Kind, Callable[[str], Range]] = {
    Kind.UNSIGNED: _unsigned,
    Kind.KERNEL: _unsigned,
    Kind.BOOLEAN: _boolean,
    Kind.ETHER: _ether,
    Kind.IPV4: _ip(4),
    Kind.IPV6: _ip(6),
    Kind.DURATION: _duration,
    Kind.TIME: _time,
    Kind.FLOAT: _float,
}
EXAMPLES = {
    Kind.UNSIGNED: "80 or 0x50",
    Kind.KERNEL: "0xffff888100000000",
    Kind.BOOLEAN: "1, 0, true or false",
    Kind.ETHER: "00:11:22:33:44:55",
    Kind.IPV4: "10.9.0.1 or 10.9.0.0/24",
    Kind.IPV6: "fd09::1 or fd09::/64",
    Kind.DURATION: "1ms, 20us or 0.5 (seconds)",
    Kind.TIME: '"2026-11-21 10:00:00.5"',
    Kind.FLOAT: "0.95",
    Kind.STRING: "word or \"some text\"",
    Kind.BYTES: "47:45:54, 0x4745 or \"GET\"",
}  # fmt: skip


def read_range(kind: Kind, text: str, bits: int) -> Range:
    """Return the range of values that `text` means for a field of `kind`.

    `bits` is the width of a field of unsigned numbers.  Raises ValueError; the error has a message
    only if the value is valid but too large.
    """
    found = _READ[kind](text)
    if kind is Kind.UNSIGNED and not 0 <= found.first < 1 << bits:
        raise ValueError(f"{text} is not from 0 to {(1 << bits) - 1}")
    return found


def read_bytes(text: str) -> bytes:
    """Return the bytes that `text` means: 01:02:03, 01-02, 0x0102, or two hexadecimal digits."""
    if _BYTES.fullmatch(text):
        return bytes(int(part, 16) for part in re.split("[:.-]", text.rstrip(":")))
    if re.fullmatch(r"0[xX][0-9a-fA-F]+", text):
        digits = text[2:]
        return bytes.fromhex(digits.zfill(len(digits) + len(digits) % 2))
    if re.fullmatch(r"[0-9a-fA-F]{1,2}", text):
        return bytes([int(text, 16)])
    raise ValueError(f"{text} is not a sequence of bytes, such as {EXAMPLES[Kind.BYTES]}")
