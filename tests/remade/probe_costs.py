# SPDX-License-Identifier: MIT
"""NetSlice, Table 2: what the probes themselves cost, from the calibration in the recordings."""

from __future__ import annotations

from skbviewer.readers import read
from skbviewer.records import KernelLog, Silent, resource

from .markdown import table

RECORDINGS = ("handshake", "bulk")
THEIRS = (("INIT", 87), ("START", 132), ("STOP", 154), ("EXIT", 904),
          ("between START and STOP", 150), ("a pair of START and STOP", 303))  # fmt: skip
OURS = {
    "an empty function's recorded duration": ("empty", "skb_empty"),
    "added to a caller that is probed": ("nested", "skb_nested"),
}


def their_costs() -> str:
    """Return NetSlice's costs in ns."""
    return table(("NetSlice's macro", "cost (ns)"), THEIRS)


def our_costs() -> str:
    """Return the costs of a probe by kernel, without and with a packet."""
    logs = [_log(name) for name in RECORDINGS]
    head = ["our probe"]
    for log in logs:
        head += [f"{log.release}, no packet (ns)", f"{log.release}, packet (ns)"]
    rows = []
    for title, names in OURS.items():
        known = [log.calibration for log in logs]
        rows.append([title, *(getattr(one, name) for one in known for name in names)])
    return table(head, rows)


def _log(name: str) -> KernelLog:
    log = read(resource(f"samples/{name}/{name}.kbl"), Silent())
    assert isinstance(log, KernelLog) and log.calibration is not None
    return log
