# SPDX-License-Identifier: MIT
"""Colouring rules of the packet list; the defaults are those of Wireshark 4.4 (file colorfilters).

Two of Wireshark's rules (HTTP/2 without TLS, and system events) are left out, because no capture
that skbviewer reads contains such packets. A packet gets the colours of the first rule whose
display filter it matches.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from functools import cache
from typing import NamedTuple

from PySide6.QtCore import QSettings
from PySide6.QtGui import QColor

from ..base.theme import RowColours

SETTING = "colour_rules"
DARK_TEXT = "#12272e"


class Rule(NamedTuple):
    """A rule.

    `background` and `foreground` are "#rrggbb" for light windows; dark windows darken them.
    """

    name: str
    text: str  # a display filter
    background: str
    foreground: str
    on: bool = True


DEFAULTS = (
    Rule(
        "Bad TCP",
        "tcp.analysis.flags && !tcp.analysis.window_update && !tcp.analysis.keep_alive && "
        "!tcp.analysis.keep_alive_ack",
        DARK_TEXT,
        "#f78787",
    ),
    Rule("HSRP State Change", "hsrp.state != 8 && hsrp.state != 16", DARK_TEXT, "#fffc9c"),
    Rule("Spanning Tree Topology Change", "stp.type == 0x80", DARK_TEXT, "#fffc9c"),
    Rule("OSPF State Change", "ospf.msg != 1", DARK_TEXT, "#fffc9c"),
    Rule("ICMP errors", "icmp.type in {3..5, 11} || icmpv6.type in {1..4}", DARK_TEXT, "#b7f774"),
    Rule("ARP", "arp", "#faf0d7", DARK_TEXT),
    Rule("ICMP", "icmp || icmpv6", "#fce0ff", DARK_TEXT),
    Rule("TCP RST", "tcp.flags.reset == 1", "#a40000", "#fffc9c"),
    Rule("SCTP ABORT", "sctp.chunk_type == 6", "#a40000", "#fffc9c"),
    Rule(
        "IPv4 TTL low or unexpected",
        "(ip.dst != 224.0.0.0/4 && ip.ttl < 5 && !(pim || ospf || eigrp || bgp || tcp.port == 179))"
        " || (ip.dst == 224.0.0.0/24 && ip.dst != 224.0.0.251 && ip.ttl != 1 && "
        "!(vrrp || carp || eigrp || rip || glbp))",
        "#a40000",
        "#ecf0eb",
    ),
    Rule(
        "IPv6 hop limit low or unexpected",
        "(ipv6.dst != ff00::/8 && ipv6.hlim < 5 && !(ospf || bgp || tcp.port == 179)) || "
        "(ipv6.dst == ff00::/8 && ipv6.hlim not in {1, 64, 255})",
        "#a40000",
        "#ecf0eb",
    ),
    Rule(  # off: Wireshark's is on, but by default it verifies none of these
        "Checksum Errors",
        'ip.checksum.status == "Bad" || tcp.checksum.status == "Bad" || '
        'udp.checksum.status == "Bad"',
        DARK_TEXT,
        "#f78787",
        on=False,
    ),
    Rule("SMB", "smb || nbss || nbns || netbios", "#feffd0", DARK_TEXT),
    Rule("HTTP", "http || tcp.port == 80", "#e4ffc7", DARK_TEXT),
    Rule("DCERPC", "dcerpc", "#c797ff", DARK_TEXT),
    Rule(
        "Routing",
        "hsrp || eigrp || ospf || bgp || cdp || vrrp || carp || gvrp || igmp || ismp",
        "#fff3d6",
        DARK_TEXT,
    ),
    Rule("TCP SYN/FIN", "tcp.flags & 0x02 || tcp.flags.fin == 1", "#a0a0a0", DARK_TEXT),
    Rule("TCP", "tcp", "#e7e6ff", DARK_TEXT),
    Rule("UDP", "udp", "#daeeff", DARK_TEXT),
    Rule("Broadcast", "eth[0] & 1", "#ffffff", "#babdb6"),
)


def stored_rules() -> tuple[Rule, ...]:
    """Return the user's rules, or the defaults if there are none."""
    try:
        rows = json.loads(str(QSettings().value(SETTING, "")))
        return tuple(
            Rule(str(name), str(text), str(background), str(foreground), bool(on))
            for name, text, background, foreground, on in rows
        )
    except (ValueError, TypeError, IndexError):
        return DEFAULTS


def store(rules: Sequence[Rule]) -> None:
    """Save `rules`.  The default rules are not saved, so that a later version can improve them."""
    if tuple(rules) == DEFAULTS:
        QSettings().remove(SETTING)
    else:
        QSettings().setValue(SETTING, json.dumps(rules))


@cache
def colours(rule: Rule, dark: bool) -> RowColours:
    """Return the colours that `rule` gives to a row, for a dark or a light window."""
    background, foreground = QColor(rule.background), QColor(rule.foreground)
    if dark and background.lightness() > foreground.lightness():
        hue, saturation = background.hslHue(), background.hslSaturation()
        light = background.lightness()
        lightness = 46 if light > 200 else 78 if light > 120 else 60
        background = QColor.fromHsl(max(hue, 0), min(saturation, 70) if hue >= 0 else 0, lightness)
        foreground = QColor.fromHsl(max(hue, 0), 60 if hue >= 0 else 0, 222)
    return RowColours(background, foreground)
