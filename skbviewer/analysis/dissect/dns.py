# SPDX-License-Identifier: MIT
"""DNS and mDNS messages, parsed by dpkt; the positions of their parts follow RFC 1035."""

from __future__ import annotations

from ipaddress import IPv4Address, IPv6Address

import dpkt

from .decoded_payload import Line, PayloadSummary

DNS_TYPES = {1: "A", 2: "NS", 5: "CNAME", 6: "SOA", 12: "PTR", 15: "MX", 16: "TXT", 28: "AAAA"}
DNS_TYPES |= {33: "SRV", 41: "OPT", 65: "HTTPS", 255: "ANY"}
DNS_ERRORS = {1: "Format error", 2: "Server failure", 3: "No such name", 5: "Refused"}
ANSWERS_SHOWN = 3


def dns(payload: bytes) -> PayloadSummary | None:
    """Decode a DNS message sent over UDP (RFC 1035): lines for its id, each query, each answer."""
    message = dpkt.dns.DNS(payload)
    answer = bool(message.qr)
    asked = [f"{_type(q.type)} {q.name}" for q in message.qd]
    found = [f"{_type(r.type)} {_resource(r)}" for r in message.an]
    words = ["Standard query" if message.opcode == 0 else f"Opcode {message.opcode}"]
    words += ["response"] if answer else []
    words.append(f"0x{message.id:04x}")
    if answer and message.rcode:
        words.append(DNS_ERRORS.get(message.rcode, f"error {message.rcode}"))
    words += asked + found[:ANSWERS_SHOWN] + (["…"] if len(found) > ANSWERS_SHOWN else [])
    places = _places(payload, len(asked), len(found))
    texts = [f"Query: {text}" for text in asked] + [f"Answer: {text}" for text in found]
    first = Line(f"Transaction ID: 0x{message.id:04x}", 0, 2)
    rest = (Line(text, *place) for text, place in zip(texts, places, strict=True))
    return PayloadSummary("DNS", " ".join(words), (first, *rest))


def _places(payload: bytes, queries: int, answers: int) -> list[tuple[int, int]]:
    """Return (offset, length) of all queries, then of all answers (RFC 1035 section 4.1)."""
    places, at = [], 12
    for number in range(queries + answers):
        begin, at = at, _after_name(payload, at)
        if number < queries:
            at += 4
        else:
            at += 10 + int.from_bytes(payload[at + 8 : at + 10], "big")
        places.append((begin, at - begin))
    return places


def _after_name(payload: bytes, at: int) -> int:
    """Return the position after a name, which ends with an empty label or with a pointer."""
    while payload[at]:
        if payload[at] & 0xC0 == 0xC0:
            return at + 2
        at += 1 + payload[at]
    return at + 1


def dns_over_tcp(payload: bytes) -> PayloadSummary | None:
    """Decode a DNS message sent over TCP, after a length field (RFC 1035 section 4.2.2)."""
    summary = dns(payload[2:])
    return summary and summary._replace(
        lines=tuple(line._replace(offset=line.offset + 2) for line in summary.lines)
    )


def mdns(payload: bytes) -> PayloadSummary | None:
    """Decode a multicast DNS message, which is a DNS message; its protocol is called MDNS."""
    summary = dns(payload)
    return summary and summary._replace(protocol="MDNS")


def _type(number: int) -> str:
    return DNS_TYPES.get(number, f"TYPE{number}")


def _resource(record: dpkt.dns.DNS.RR) -> str:
    if record.type == dpkt.dns.DNS_A:
        return str(IPv4Address(record.rdata))
    if record.type == dpkt.dns.DNS_AAAA:
        return str(IPv6Address(record.rdata))
    for name in ("cname", "ptrname", "nsname", "mxname"):
        if hasattr(record, name):
            return str(getattr(record, name))
    return str(record.name)
