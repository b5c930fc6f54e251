# SPDX-License-Identifier: MIT
"""Thesis, Tables 6-1 to 6-3: what its scanner found in Linux 2.6, and ours in newer kernels."""

from __future__ import annotations

from typing import Any

from tests.bench.scanner import VERSIONS
from tests.bench.scanner_oracle import NAMED

from .markdown import table
from .scan import Scan, kept
from .successors import SUCCESSORS

# The thesis' counts for 2.6.17 and 2.6.21.
THEIRS = {
    "source files, include": (5492, 5959),
    "source files, net": (741, 816),
    "aliases": (20, 20),
    "customized data types": (26, 24),
    "nested structures": (367, 328),
    "packet processing functions": (6623, 6813),
    "all functions": (11175, 12166),
}
_INDIRECT_USE = """
inet_sendmsg tcp_sendmsg tcp_push_one tcp_write_xmit tcp_connect tcp_send_ack tcp_send_synack
tcp_retransmit_skb tcp_transmit_skb udp_sendpage udp_sendmsg ip_append_page ip_append_data
ip_push_pending_frames __netif_rx_schedule net_tx_action tcp_recvmsg udp_recvmsg net_rx_action
sk_wait_data
"""
INDIRECT_USE = set(_INDIRECT_USE.split())  # those that the thesis marks P & D
FIRST_MARKED = "icmp_send"  # of the functions before this one, we do not know which are D


def scan_counts() -> str:
    """Table 6-1: files, forms and functions."""
    ours = [_counts(kept(version)) for version in VERSIONS]
    rows = [
        (name, *(f"{number:,}" for number in theirs), *(f"{one[name]:,}" for one in ours))
        for name, theirs in THEIRS.items()
    ]
    return table(("", "thesis: 2.6.17", "thesis: 2.6.21", *_titles()), rows)


def scan_functions() -> str:
    """Tables 6-2 and 6-3: the functions that the thesis names."""
    scans = [kept(version) for version in VERSIONS]
    rows = []
    for name in NAMED:
        found = [_found(scan, name) for scan in scans]
        rows.append((f"`{name}`", _their_mark(name), *found, _what_became(name, scans)))
    return table(("function", "thesis", *_titles(), "successor"), rows, left=5)


def _titles() -> tuple[str, ...]:
    return tuple(f"here: {version}" for version in VERSIONS)


def _counts(scan: Scan) -> dict[str, int]:
    """Return our numbers under the names of the thesis' rows."""
    counts = scan.counts
    source, headers = counts["source"], counts["headers"]
    kinds = ("direct", "callers", "callees")
    packet = sum(part[kind] for part in (source, headers) for kind in kinds)
    numbers = (
        *(counts["files"][folder] for folder in ("include", "net")),
        counts["aliases"],
        counts["customized_types"],
        counts["nested_structures"],
        packet,
        source["all"] + headers["all"],
    )
    return dict(zip(THEIRS, numbers, strict=True))


def _their_mark(name: str) -> str:
    if name in INDIRECT_USE:
        return "P & D"
    return "D" if NAMED.index(name) >= NAMED.index(FIRST_MARKED) else "found"


def _found(scan: Scan, name: str) -> str:
    """Return our mark of a function and its file; "gone" if the kernel does not have it."""
    rows = [row for row in scan.functions if row["function"] == name]
    if not rows:
        return "gone"
    # A function can have a second definition for kernels without the option that it belongs to.
    row = min(rows, key=lambda row: (row["kind"] is None, row["level"] or 0, row["file"]))
    return f"{_mark(row)}, `{row['file']}`"


def _mark(row: dict[str, Any]) -> str:
    """Return D or P & D for a function of the direct table, otherwise how it was found."""
    if row["kind"] is None:
        return "not found"
    if row["kind"] != "direct":
        return f"indirect ({row['kind']})"
    return "D" if row["level"] == 0 else "P & D"


def _what_became(name: str, scans: list[Scan]) -> str:
    """Return the successor of a function that a kernel does not have, with the reason."""
    if all(_found(scan, name) != "gone" for scan in scans):
        return ""
    successor, why = SUCCESSORS[name]
    return f"`{successor}` ({_mark_of(scans[-1], successor)}): {why}"


def _mark_of(scan: Scan, name: str) -> str:
    return _found(scan, name).partition(",")[0]
