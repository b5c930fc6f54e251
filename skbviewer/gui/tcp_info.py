# SPDX-License-Identifier: MIT
"""What Wireshark's Info says of TCP by looking at the whole stream.

Sequence numbers relative to its beginning, and what tcp.analysis.* found.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING

from .contract import Recording

if TYPE_CHECKING:
    from .packet_rows import ListRow

MOST_PACKETS = 200_000  # whole streams are looked at: above, the numbers of the headers stay
TCP = 6
NUMBERS = (("tcp.seq", "Seq"), ("tcp.ack", "Ack"))
# Wireshark's words, in its order; of several retransmissions the first says it all.
WORDS = {
    "reused_ports": "Port numbers reused",
    "zero_window_probe": "ZeroWindowProbe",
    "zero_window": "ZeroWindow",
    "lost_segment": "Previous segment not captured",
    "ack_lost_segment": "ACKed unseen segment",
    "keep_alive": "Keep-Alive",
    "window_update": "Window Update",
    "window_full": "Window Full",
    "keep_alive_ack": "Keep-Alive ACK",
    "zero_window_probe_ack": "ZeroWindowProbeAck",
    "duplicate_ack": "Dup ACK",
    "spurious_retransmission": "Spurious Retransmission",
    "fast_retransmission": "Fast Retransmission",
    "out_of_order": "Out-Of-Order",
    "retransmission": "Retransmission",
}
SENT_AGAIN = ("spurious_retransmission", "fast_retransmission")


def with_streams(recording: Recording, rows: Sequence[ListRow]) -> list[ListRow]:
    """`rows` with what their streams tell in the Info of TCP; as they are in large recordings."""
    found = list(rows)
    if recording.packet_count() > MOST_PACKETS:
        return found
    mine = [at for at, row in enumerate(found) if row.packet is not None and _is_tcp(row)]
    ids = [found[at].id for at in mine]
    for name, word in NUMBERS if mine else ():
        for at, text in zip(mine, recording.field_values(name, ids), strict=True):
            if text:
                info = re.sub(rf"\b{word}=\d+", f"{word}={text}", found[at].info, count=1)
                found[at] = found[at]._replace(info=info)
    for at, words in zip(mine, _analysed(recording, ids), strict=True):
        found[at] = found[at]._replace(info=words + found[at].info)
    return found


def _analysed(recording: Recording, ids: list[int]) -> list[str]:
    """What is put before, such as "[TCP Retransmission] ", for each packet."""
    told = [""] * len(ids)
    if not ids or not any(recording.field_values("tcp.analysis.flags", ids)):
        return told
    has = {name: recording.field_values(f"tcp.analysis.{name}", ids) for name in WORDS}
    for at in range(len(ids)):
        names = [name for name in WORDS if has[name][at]]
        if any(name in names for name in SENT_AGAIN):
            names.remove("retransmission")
        told[at] = "".join(f"[TCP {WORDS[name]}] " for name in names)
    return told


def _is_tcp(row: ListRow) -> bool:
    return row.ip_protocol == TCP and "] Seq=" in row.info
