# SPDX-License-Identifier: MIT
"""The sections of a retis point, except its place, as lines: OVS, conntrack, nft and others.

The layout of the sections is that of retis-events (https://github.com/retis-org/retis), versions
1.5 to 1.7.  Unknown sections are shown as JSON.  The values in a section may have any type.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

from ...readers import printable

Section = dict[str, Any]

STACK = "stack_trace"
MAX_LINE_CHARACTERS = 400  # characters of a line
UPCALLS = {0: "unspec", 1: "miss", 2: "action", 3: "exec"}  # linux/openvswitch.h OVS_PACKET_CMD_*
# Sections whose values are columns, except a few: the word before those, and the columns.
COLUMNS = {
    "task": ("", ("pid", "comm")),
    "netns": ("netns", ("inum", "netns")),
    "ns": ("netns", ("inum", "netns")),  # of version 1.5
    "dev": ("", ("name", "ifindex")),
}


def sections_by_name(text: str) -> Section:
    """Return the sections of a point by name, from their JSON text; {} if it has none."""
    try:
        found = json.loads(text) if text else {}
    except (ValueError, RecursionError):
        return {}
    return found if isinstance(found, dict) else {}


def stack_of(sections: Section) -> tuple[str, ...]:
    """Return the stack trace of a point, the innermost frame first."""
    frames = sections.get(STACK)
    return tuple(_text(frame) for frame in frames) if isinstance(frames, list) else ()


def lines_of(sections: Section) -> tuple[str, ...]:
    """Return lines about a point: one for values that no column shows, then one for each section.

    The stack has no line.  Examples are "point: tgid 7, netns cookie 1" and "nft: drop by table
    filter, chain input (policy)".
    """
    rest = _rest(sections)
    lines = [f"point: {rest}"] if rest else []
    lines += [
        f"{name}: {_line(name, value)}"
        for name, value in sections.items()
        if name != STACK and name not in COLUMNS
    ]
    return tuple(printable(line)[:MAX_LINE_CHARACTERS] for line in lines)


def _rest(sections: Section) -> str:
    """Return the values about task, namespace and device that no column shows."""
    found = {}
    for name, (word, columns) in COLUMNS.items():
        values = sections.get(name)
        if not isinstance(values, dict):
            continue
        for key, value in values.items():
            is_main = key == "tgid" and value == values.get("pid")
            if key not in columns and not is_main:
                found[f"{word} {key}".strip()] = value
    return _pairs(found)


def _line(name: str, value: Any) -> str:
    say = _LINES.get(name)
    return say(value) if say and isinstance(value, dict) else _json(value)


def _json(value: Any) -> str:
    if isinstance(value, dict):
        return _pairs(value)
    return json.dumps(value, ensure_ascii=False)


def _pairs(values: Section, *but: str) -> str:
    """Return names and values as "port 3, cpu 6"."""
    return ", ".join(f"{k} {_text(v)}" for k, v in values.items() if k not in but)


def _text(value: Any) -> str:
    return printable(value) if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def _nft(values: Section) -> str:
    policy = " (policy)" if values.get("policy") is True else ""
    target, handle = (values.get(name) for name in ("verdict_chain_name", "rule_handle"))
    to = "" if target is None else f" to chain {_text(target)}"
    rule = "" if handle is None else f", rule handle {_text(handle)}"
    table, chain = (_text(values.get(f"{word}_name", "?")) for word in ("table", "chain"))
    verdict = f"{_text(values.get('verdict', '?'))}{to}{policy}"
    return f"{verdict} by table {table}, chain {chain}{rule}"


def _ct(values: Section) -> str:
    state = values.get("proto_state", values.get("tcp_state"))
    words = [_text(values.get("state", "?"))]
    words += [f"({_text(state)})"] if state is not None else []
    words += [f"{way} {_tuple(values.get(way))}" for way in ("orig", "reply") if way in values]
    rest = _pairs(values, "state", "proto_state", "tcp_state", "orig", "reply", "zone_dir")
    zone = values.get("zone_dir")
    words += [f"zone direction {_text(zone)}"] if zone not in (None, "None", "Default") else []
    return " ".join(words) + (f", {rest}" if rest else "")


def _tuple(values: Any) -> str:
    """Return a connection as "tcp 10.0.0.1 port 40 > 10.0.0.2 port 80"."""
    try:
        (protocol, ports), ip = next(iter(values["proto"].items())), values["ip"]
        if "sport" in ports:
            ends = f"{ip['src']} port {ports['sport']} > {ip['dst']} port {ports['dport']}"
        else:
            ends = f"{ip['src']} > {ip['dst']} {_pairs(ports)}"
        return f"{protocol} {ends}"
    except (TypeError, KeyError, AttributeError, StopIteration, ValueError):
        return _json(values)


def _ovs(values: Section) -> str:
    kind = _text(values.get("event_type", "?"))
    words = [kind]
    if "cmd" in values:
        words.append(f"({UPCALLS.get(values['cmd'], values['cmd'])})" if _is_small(values) else "")
    if "action" in values:
        words.append(_text(values["action"]))
    rest = _pairs(values, "event_type", "cmd", "action")
    return " ".join(word for word in words if word) + (f": {rest}" if rest else "")


def _is_small(values: Section) -> bool:
    return isinstance(values["cmd"], int)


_LINES: dict[str, Callable[[Section], str]] = {"nft": _nft, "ct": _ct, "ovs": _ovs}
