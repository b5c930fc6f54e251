# SPDX-License-Identifier: MIT
"""Info of TCP packets with sequence numbers relative to their stream, as in Wireshark."""

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


def with_relative(recording: Recording, rows: Sequence[ListRow]) -> list[ListRow]:
    """`rows` with tcp.seq and tcp.ack in their Info; as they are in large recordings."""
    found = list(rows)
    if recording.packet_count() > MOST_PACKETS:
        return found
    mine = [at for at, row in enumerate(found) if row.packet is not None and _is_tcp(row)]
    for name, word in NUMBERS if mine else ():
        texts = recording.field_values(name, [found[at].id for at in mine])
        for at, text in zip(mine, texts, strict=True):
            if text:
                info = re.sub(rf"\b{word}=\d+", f"{word}={text}", found[at].info, count=1)
                found[at] = found[at]._replace(info=info)
    return found


def _is_tcp(row: ListRow) -> bool:
    return row.ip_protocol == TCP and "] Seq=" in row.info
