# SPDX-License-Identifier: MIT
"""Decode TCP and UDP payloads on well-known ports: DNS, DHCP, HTTP, TLS (with dpkt).

Output: Wireshark's name of the protocol, the Info text, and lines for the detail tree.  A payload
that dpkt cannot parse is not decoded.  The content of a payload alone never decides which protocol
it is.
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Iterator
from ipaddress import IPv4Address

import dpkt

from ...readers import printable
from ...records.protocols import TCP, UDP
from ..words.packet_info import mac
from .decoded_payload import Line, PayloadSummary
from .dns import dns, dns_over_tcp, mdns
from .routing_protocols import parsers

Parser = Callable[[bytes], PayloadSummary | None]

DHCP_KINDS = ("", "Discover", "Offer", "Request", "Decline", "ACK", "NAK", "Release", "Inform")
DHCP_MESSAGE = 53  # RFC 2132 option
DHCP_OPTIONS = 240  # offset of the options: RFC 2131 section 2, with the magic cookie
DHCP_NAMES = {1: "Subnet Mask", 3: "Router", 6: "Domain Name Server", 12: "Host Name"}
DHCP_NAMES |= {15: "Domain Name", 28: "Broadcast Address", 50: "Requested IP Address"}
DHCP_NAMES |= {51: "IP Address Lease Time", 53: "DHCP Message Type", 54: "DHCP Server Identifier"}
DHCP_NAMES |= {55: "Parameter Request List", 57: "Maximum DHCP Message Size"}
DHCP_NAMES |= {58: "Renewal Time Value", 59: "Rebinding Time Value", 61: "Client Identifier"}
DHCP_NAMES |= {60: "Vendor Class Identifier", 77: "User Class", 82: "Agent Information"}
DHCP_ADDRESSES, DHCP_SECONDS, DHCP_TEXTS = {1, 3, 6, 28, 50, 54}, {51, 58, 59}, {12, 15, 60}
TLS_TYPES = {20: "Change Cipher Spec", 21: "Alert", 22: "Handshake", 23: "Application Data"}
TLS_HANDSHAKES = {1: "Client Hello", 2: "Server Hello", 4: "New Session Ticket", 11: "Certificate"}
TLS_HANDSHAKES |= {12: "Server Key Exchange", 14: "Server Hello Done", 16: "Client Key Exchange"}
TLS_VERSIONS = {0x301: "TLSv1", 0x302: "TLSv1.1", 0x303: "TLSv1.2", 0x304: "TLSv1.3"}
SUPPORTED_VERSIONS, SERVER_NAME = 43, 0  # RFC 8446 section 4.2, RFC 6066


def payload_summary(protocol: int, sport: int, dport: int, payload: bytes) -> PayloadSummary | None:
    """Decode a payload by its ports; None if no port is known, or if the payload is malformed.

    `protocol` is 6 (TCP) or 17 (UDP); `sport` and `dport` are the ports.
    """
    if not payload:
        return None
    for port in (dport, sport):
        parser = PARSERS.get((protocol, port))
        if parser is not None:
            try:
                summary = parser(payload)
            except (dpkt.Error, struct.error, ValueError, IndexError, KeyError, AttributeError):
                return None  # for malformed payloads, dpkt raises any of these
            return None if summary is None else _printable(summary)
    return None


def _printable(summary: PayloadSummary) -> PayloadSummary:
    """Return the summary with unprintable characters escaped: a sender may send anything."""
    lines = tuple(line._replace(text=printable(line.text)) for line in summary.lines)
    return summary._replace(info=printable(summary.info), lines=lines)


def _dhcp(payload: bytes) -> PayloadSummary | None:
    message = dpkt.dhcp.DHCP(payload)
    options = dict(message.opts)
    kind = options.get(DHCP_MESSAGE, b"\0")[0]
    name = DHCP_KINDS[kind] if 0 < kind < len(DHCP_KINDS) else f"message {kind}"
    lines = (
        Line(f"Transaction ID: 0x{message.xid:08x}", 4, 4),
        Line(f"Client IP address: {IPv4Address(message.ciaddr)}", 12, 4),
        Line(f"Your IP address: {IPv4Address(message.yiaddr)}", 16, 4),
        Line(f"Next server: {IPv4Address(message.siaddr)}", 20, 4),
        Line(f"Client MAC address: {mac(int.from_bytes(message.chaddr[:6], 'big'))}", 28, 6),
        *_dhcp_options(payload),
    )
    return PayloadSummary("DHCP", f"DHCP {name} - Transaction ID 0x{message.xid:x}", lines)


def _dhcp_options(payload: bytes) -> Iterator[Line]:
    """Yield a line for each option (RFC 2132 section 2): number, length and value.

    Options with the numbers 0 and 255 have neither length nor value.
    """
    at = DHCP_OPTIONS
    while at + 1 < len(payload) and payload[at] != 255:
        if payload[at] == 0:
            at += 1
            continue
        size = 2 + payload[at + 1]
        value = payload[at + 2 : at + size]
        name = DHCP_NAMES.get(payload[at], "")
        text = f"Option ({payload[at]}) {name}".rstrip()
        yield Line(f"{text}: {_dhcp_value(payload[at], value)}", at, size)
        at += size


def _dhcp_value(option: int, value: bytes) -> str:
    if option == DHCP_MESSAGE and value and 0 < value[0] < len(DHCP_KINDS):
        return f"{DHCP_KINDS[value[0]]} ({value[0]})"
    if option in DHCP_ADDRESSES and value and len(value) % 4 == 0:
        return ", ".join(str(IPv4Address(value[n : n + 4])) for n in range(0, len(value), 4))
    if option in DHCP_SECONDS and len(value) == 4:
        return f"{int.from_bytes(value, 'big')} s"
    if option in DHCP_TEXTS and value.rstrip(b"\0").isascii():
        return value.rstrip(b"\0").decode("ascii")
    return value.hex()


def _http(payload: bytes) -> PayloadSummary | None:
    """Return first line and headers of an HTTP message; None if the payload is not HTTP."""
    first, _, rest = payload.partition(b"\r\n")
    line = first.decode("latin-1")
    words = line.split(" ")
    request = len(words) == 3 and words[2].startswith("HTTP/") and words[0].isupper()
    if not request and not line.startswith("HTTP/"):
        return None
    head = rest.partition(b"\r\n\r\n")[0].decode("latin-1")
    lines, at = [], 0
    for text in (line, *head.split("\r\n")):
        if text:
            lines.append(Line(text, at, min(len(text) + 2, len(payload) - at)))
        at += len(text) + 2
    return PayloadSummary("HTTP", line, tuple(lines))


def _tls(payload: bytes) -> PayloadSummary | None:
    names, lines, version, at = [], [], 0, 0
    while at + 5 <= len(payload) and payload[at] in TLS_TYPES:
        kind = payload[at]
        version = max(version, int.from_bytes(payload[at + 1 : at + 3], "big"))
        size = int.from_bytes(payload[at + 3 : at + 5], "big")
        body = payload[at + 5 : at + 5 + size]
        name = TLS_TYPES[kind]
        if kind == 22 and body:
            name = TLS_HANDSHAKES.get(body[0], "Encrypted Handshake Message")
            if body[0] in (1, 2):
                version, host = _hello(body, version)
                name += f" (SNI={host})" if host else ""
        names.append(name)
        lines.append(Line(f"{name}, {size} bytes", at, 5 + len(body)))
        at += 5 + size
    if not names or version not in TLS_VERSIONS:
        return None
    return PayloadSummary(TLS_VERSIONS[version], ", ".join(names), tuple(lines))


def _hello(body: bytes, version: int) -> tuple[int, str]:
    """Return version and server name of a Client Hello or Server Hello (RFC 8446 section 4.1)."""
    at = 4 + 2 + 32
    version = int.from_bytes(body[4:6], "big")
    at += 1 + body[at]  # session id
    at += 2 + int.from_bytes(body[at : at + 2], "big") if body[0] == 1 else 2  # cipher suites
    at += 1 + body[at] if body[0] == 1 else 1  # compression
    at += 2
    host = ""
    while at + 4 <= len(body):
        kind, size = struct.unpack(">HH", body[at : at + 4])
        value = body[at + 4 : at + 4 + size]
        if kind == SERVER_NAME and len(value) > 5:
            host = value[5:].decode("ascii", "replace")
        if kind == SUPPORTED_VERSIONS and body[0] == 2 and len(value) == 2:
            version = int.from_bytes(value, "big")
        at += 4 + size
    return version, host


PARSERS: dict[tuple[int, int], Parser] = {
    (UDP, 53): dns,
    (TCP, 53): dns_over_tcp,
    (UDP, 5353): mdns,
    (UDP, 67): _dhcp,
    (UDP, 68): _dhcp,
    **{(6, port): _http for port in (80, 8000, 8080)},
    **{(6, port): _tls for port in (443, 853, 8443)},
    **parsers(),
}
