# SPDX-License-Identifier: MIT
"""Read one retis event with Python's JSON parser, if event_scan.py cannot read it.

If event_scan.py and this module can both read an event, they return the same values.  For an event
that cannot be used, this module says why.
"""

from __future__ import annotations

import json
from typing import Any, NamedTuple

from .event_keys import INODE, INT32, TIME, WORD

Event = dict[str, Any]

DEEPEST = 32  # levels of nesting in sections that are kept
NO_TIME = "timestamp is not a time in nanoseconds"
LARGEST = 1 << 22  # bytes of an event: Python needs many times as much memory for it
TOO_LARGE = f"an event of more than {LARGEST >> 20} MiB"
KNOWN = ("common", "kernel", "skb-tracking", "tracking", "skb-drop", "packet", "skb")
OF_SKB = ("gso", "vlan_accel", "data_ref", "dev", "ns")  # those of section skb that are kept
BYTES = ("data", "raw", "packet")  # keys of a packet's bytes: of the newest version first


class Unusable(Exception):
    """An event cannot be used; its text says why."""


class EventValues(NamedTuple):
    """The values of an event: numbers and texts, each by name, and sections as JSON."""

    numbers: dict[str, int]
    texts: dict[str, bytes]
    sections: bytes


def parse_event(raw: bytes, is_last: bool) -> Event:
    """Return the event in a JSON text.  Raises Unusable if the text contains no event.

    `is_last` means that the text ends with the file, and so may be truncated.
    """
    try:
        found = json.loads(raw, parse_constant=_refused)
    except (ValueError, RecursionError) as error:
        why = "the last line is cut" if is_last else "not valid JSON"
        raise Unusable(why) from error
    if not isinstance(found, dict):
        raise Unusable("not a JSON object")
    return found


def _refused(word: str) -> None:
    """Raise ValueError for NaN and Infinity, which Python's parser accepts but JSON forbids."""
    raise ValueError(word)


def values_of(event: Event) -> EventValues | None:
    """Return the values of an event that skbviewer uses; None if the event is not a point.

    A point has the section kernel or userspace.  Raises Unusable if a value has the wrong type or
    range, or if a value is missing that every point must have.
    """
    kernel, user = section(event, "kernel"), section(event, "userspace")
    if not ("kernel" in event or "userspace" in event):
        return None
    common, skb = section(event, "common"), section(event, "skb")
    tracking = section(event, "skb-tracking")
    later = section(section(event, "tracking"), "skb")
    device = section(event, "dev") or section(skb, "dev")
    space = section(event, "netns") or section(skb, "ns")
    packet = section(event, "packet") or section(skb, "packet")
    meta, gso = section(skb, "meta"), section(skb, "gso")
    task, drop = section(common, "task"), section(event, "skb-drop")
    found = {
        "ts": number(common, "timestamp"),
        "cpu": _known(common, "smp_id"),
        "pid": _known(task, "pid"),
        "ifindex": _known(device, "ifindex"),
        "netns": _known(space, "inum" if "inum" in space else "netns", INODE),
        "skb_len": _known(meta, "len"),
        "gso_size": _known(gso, "size"),
        "gso_segs": _known(gso, "segs"),
        "length": _known(packet, "len"),
    }
    if found["ts"] > TIME:
        raise Unusable(NO_TIME)
    for prefix, tracked in (("", tracking), ("later_", later)):
        if tracked:
            found[f"{prefix}skb"] = number(tracked, "skb")
            found[f"{prefix}tracked"] = number(tracked, "timestamp")
            found[f"{prefix}head"] = number(tracked, "orig_head")
    texts = {}
    for prefix, probe in (("user", user), ("", kernel)):
        if probe or (prefix == "" and "kernel" in event):
            texts[prefix or "symbol"] = _text(probe, "symbol")
            texts[f"{prefix}_type" if prefix else "type"] = _text(probe, "probe_type")
    if drop:
        texts["reason"] = _text(drop, "drop_reason")
        texts |= _optional("subsystem", drop.get("subsys"))
    if packet:
        texts["packet"] = _text(packet, next((n for n in BYTES if n in packet), "data"))
    texts |= _optional("comm", task.get("comm")) | _optional("device", device.get("name"))
    numbers = {name: value for name, value in found.items() if value >= 0}
    return EventValues(numbers, texts, _sections(event, kernel, skb, common))


def section(event: Event, name: str) -> Event:
    """Return the section `name` of an event; {} if the event does not have it.

    Raises Unusable if the section is not a JSON object.
    """
    found = event.get(name)
    if found is None:
        return {}
    if not isinstance(found, dict):
        raise Unusable(f"section {name} is not a JSON object")
    return found


def number(values: Event, name: str) -> int:
    """Return the number `name` of a section, from 0 to 2^64 - 1.

    Raises Unusable if the section has no such number.
    """
    found = values.get(name)
    if type(found) is not int or not 0 <= found <= WORD:
        raise Unusable(f"{name} is not a number of 64 bits")
    return found


def _known(values: Event, name: str, most: int = INT32) -> int:
    """Return the number `name` of a section, at most `most`; -1 if the section has none."""
    found = values.get(name)
    if found is None:
        return -1
    if type(found) is not int or not -1 <= found <= most:
        raise Unusable(f"{name} is not a number from 0 to {most}")
    return found


def _text(values: Event, name: str) -> bytes:
    found = values.get(name)
    if not isinstance(found, str):
        raise Unusable(f"{name} is not a text")
    return _encoded(found)


def _optional(name: str, value: object) -> dict[str, bytes]:
    return {name: _encoded(value)} if isinstance(value, str) else {}


def _encoded(text: str) -> bytes:
    """Return a text as UTF-8; half surrogate pairs, which JSON may contain, are escaped."""
    return text.encode("utf-8", "backslashreplace")


def _sections(event: Event, kernel: Event, skb: Event, common: Event) -> bytes:
    """Return the sections that have values without a column, as JSON."""
    kept = {name: skb[name] for name in OF_SKB if name in skb}
    kept |= {name: value for name, value in event.items() if name not in KNOWN}
    kept |= {"task": common["task"]} if "task" in common else {}
    if "stack_trace" in kernel:
        kept["stack_trace"] = kernel["stack_trace"]
    kept = {name: value for name, value in kept.items() if isinstance(value, dict | list)}
    if _is_deeper(kept, DEEPEST):
        raise Unusable(f"sections nested more than {DEEPEST} times")
    return json.dumps(kept, separators=(",", ":")).encode() if kept else b""


def _is_deeper(value: Any, most: int) -> bool:
    """Return whether lists and objects in `value` are nested more than `most` levels deep."""
    left = [(value, 1)]
    while left:
        one, depth = left.pop()
        if isinstance(one, dict | list):
            if depth > most:
                return True
            left += [
                (inner, depth + 1) for inner in (one.values() if isinstance(one, dict) else one)
            ]
    return False
