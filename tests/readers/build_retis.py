# SPDX-License-Identifier: MIT
"""Write retis logs: one JSON object a line, as retis 1.5 to 1.7 do."""

from __future__ import annotations

import base64
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

MONO_NS, AHEAD_S = 5_000_000_000, 1_700_000_000
START, RECEIVE, FREE = "net:net_dev_start_xmit", "net:netif_receive_skb", "skb:kfree_skb"
HEAD = (1 << 64) - (1 << 40)  # an skb's data: an address that needs 64 bits
NETNS = 4026531840


def startup(version: str = "v1.6.0") -> dict[str, Any]:
    """Return the first event of a log."""
    offset = {"sec": AHEAD_S, "nsec": 250}
    began = {"retis_version": version, "clock_monotonic_offset": offset}
    return {"common": {"timestamp": MONO_NS}, "startup": began}


def point(
    ns: int,
    symbol: str,
    life: int,
    frame: bytes = b"",
    *,
    device: tuple[str, int] = ("veth0", 3),
    type_: str = "raw_tracepoint",
    drop: str = "",
) -> dict[str, Any]:
    """Return a point `ns` after the start; `life` is when its lifetime began, in the same way."""
    made: dict[str, Any] = {
        "common": {
            "timestamp": MONO_NS + ns,
            "smp_id": 2,
            "task": {"pid": 70, "tgid": 7, "comm": "ping"},
        },
        "kernel": {"symbol": symbol, "probe_type": type_},
        "skb-tracking": {"orig_head": HEAD + life, "timestamp": MONO_NS + life, "skb": HEAD + 64},
        "netns": {"cookie": 1, "inum": NETNS},
        "dev": {"name": device[0], "ifindex": device[1]},
    }
    if frame:
        data = base64.b64encode(frame).decode()
        made["packet"] = {"len": len(frame), "capture_len": len(frame), "data": data}
        made["skb"] = {"meta": {"len": len(frame), "data_len": 0}}
    if drop:
        made["skb-drop"] = {"drop_reason": drop}
    return made


def older(event: dict[str, Any]) -> dict[str, Any]:
    """Return an event as retis 1.5 writes it: device, namespace and bytes are in section skb."""
    skb = dict(event.get("skb", {})) | {
        "dev": event["dev"],
        "ns": {"netns": event["netns"]["inum"]},
    }
    if "packet" in event:
        packet = event["packet"]
        lengths = {name: packet[name] for name in ("len", "capture_len")}
        skb["packet"] = lengths | {"packet": packet["data"]}
    rest = {k: v for k, v in event.items() if k not in ("dev", "netns", "packet")}
    return rest | {"skb": skb}


def write(path: Path, events: Sequence[Any]) -> Path:
    """Write `events`, one a line; lists become lines of a sorted log."""
    path.write_text("".join(json.dumps(event) + "\n" for event in events))
    return path
