# SPDX-License-Identifier: MIT
"""Events as retis writes them: as JSON, and as the text that `retis print` shows.

Layout: retis-events of https://github.com/retis-org/retis, version 1.6.  Names in the text are
percent-encoded, so that no name can look like another part of the text.
"""

from __future__ import annotations

import json
from functools import lru_cache
from typing import Any

from .comment_format import percent_encoded

Event = dict[str, Any]

# Sections that hold no addresses of packets and no rules' names; they stay with pseudonyms.
PLAIN = ("common", "kernel", "skb-tracking", "skb-drop", "netns", "dev")
PROBE_TYPES = {"raw_tracepoint": "tp", "kprobe": "k", "kretprobe": "kr"}
UNSEEN = "  not in any capture"
TITLE = "Retis event, written by skbviewer"
MASK64 = (1 << 64) - 1


def _object(**properties: Any) -> dict[str, Any]:
    return {"type": "object", "properties": properties}


_TEXT, _NUMBER = {"type": "string"}, {"type": "integer"}
# The sections of which Wireshark's plugin of retis makes fields.  It marks all others as not in the
# schema.
SCHEMA = {
    "$schema": "https://json-schema.org/draft/2020-12/schema",
    "title": TITLE,
    **_object(
        **{
            "common": _object(
                timestamp=_NUMBER,
                smp_id=_NUMBER,
                task=_object(pid=_NUMBER, tgid=_NUMBER, comm=_TEXT),
            ),
            "kernel": _object(symbol=_TEXT, probe_type=_TEXT, stack_trace={"type": "array"}),
            "skb-tracking": _object(orig_head=_NUMBER, timestamp=_NUMBER, skb=_NUMBER),
            "skb-drop": _object(subsys=_TEXT, drop_reason=_TEXT),
            "netns": _object(cookie=_NUMBER, inum=_NUMBER),
            "dev": _object(name=_TEXT, ifindex=_NUMBER, rx_ifindex=_NUMBER),
        }
    ),
}


def event_of_log(raw: bytes, plain: bool) -> Event:
    """Return an event of a log without its packet bytes, in the layout of retis 1.6.

    With `plain`, only the sections PLAIN are returned. Returns {} if the event cannot be parsed.
    """
    try:
        event = json.loads(raw)
    except (ValueError, RecursionError):
        return {}
    if not isinstance(event, dict):
        return {}
    skb = event.get("skb")
    if isinstance(skb, dict):  # retis 1.5: device, namespace and bytes are in section skb
        namespace = skb.pop("ns", None)
        if isinstance(namespace, dict):
            event.setdefault("netns", {"inum": namespace.get("netns")})
        for name in ("packet", "dev"):
            if name in skb:
                event.setdefault(name, skb.pop(name))
    event.pop("packet", None)
    return {name: event[name] for name in PLAIN if name in event} if plain else event


def short_event(event: Event) -> Event:
    """Return the sections PLAIN of an event, without its stack trace."""
    made = {key: event[key] for key in PLAIN if key in event}
    kernel = _section(event, "kernel")
    return made | {"kernel": {k: v for k, v in kernel.items() if k != "stack_trace"}}


def as_json(event: Event) -> bytes:
    """Return an event as JSON without spaces."""
    return json.dumps(event, ensure_ascii=False, separators=(",", ":")).encode("utf-8", "replace")


def text_of(event: Event) -> str:
    """Return an event as the two lines that `retis print` shows for it.

    The second line is missing if the event has neither namespace nor device.
    """
    common, kernel, tracking = (_section(event, n) for n in ("common", "kernel", "skb-tracking"))
    task = _section(common, "task")
    cpu = f" ({_number(common, 'smp_id')})" if "smp_id" in common else ""
    who = f" [{name(task.get('comm', ''))}] {_number(task, 'pid')}" if task else ""
    kind = PROBE_TYPES.get(str(kernel.get("probe_type")), "invalid")
    line = f"{_number(common, 'timestamp')}{cpu}{who} [{kind}] {name(kernel.get('symbol', ''))}"
    if "orig_head" in tracking:
        begin, head = (_number(tracking, key) for key in ("timestamp", "orig_head"))
        line += f" #{begin:x}{head:x}"
    if "skb" in tracking:
        line += f" (skb {_number(tracking, 'skb'):x})"
    drop, place = _section(event, "skb-drop"), _place(event)
    lines = [line + (f" drop (reason {name(drop.get('drop_reason', ''))})" if drop else "")]
    return "\n".join(lines + ([f"  {place}"] if place else []))


def _place(event: Event) -> str:
    netns, device = _section(event, "netns"), _section(event, "dev")
    cookie = f"0x{_number(netns, 'cookie'):x}/" if "cookie" in netns else ""
    words = [f"ns {cookie}{_number(netns, 'inum')}"] if netns else []
    if device:
        words.append(f"if {_number(device, 'ifindex')} ({name(device.get('name', ''))})")
    if "rx_ifindex" in device:
        words.append(f"rxif {_number(device, 'rx_ifindex')}")
    return " ".join(words)


def probe_of(event: Event) -> str:
    """Return an event's probe in the form "kprobe/ip_rcv"; "" if no kernel probe made the event."""
    kernel = _section(event, "kernel")
    symbol, kind = kernel.get("symbol"), kernel.get("probe_type")
    return f"{name(kind)}/{name(symbol)}" if symbol and kind else ""


def name(value: Any) -> str:
    """Return `value` as retis writes a name in texts, percent-encoded."""
    return _as_text(str(value))


@lru_cache(maxsize=1 << 12)  # names repeat; encoding them takes longer than the rest of an event
def _as_text(text: str) -> str:
    return percent_encoded(text).decode().replace("%2F", "/")


def _section(values: Event, key: str) -> Event:
    found = values.get(key)
    return found if isinstance(found, dict) else {}


def _number(values: Event, key: str) -> int:
    found = values.get(key)
    return found & MASK64 if isinstance(found, int) else 0
