# SPDX-License-Identifier: MIT
"""Comments on packets that no capture contains: they say where the packets' bytes come from."""

from __future__ import annotations

import numpy as np

from ...analysis.fields.field_source_tables import Data
from ...records.bulk_dtypes import DETAIL_BITS
from ...records.kernel_events import SEEN_AT
from ...records.types import Int64s
from .comment_format import percent_encoded

UNSEEN = "not in any capture: bytes of a retis log"


def point_marks(data: Data, rows: Int64s, events: Int64s) -> dict[int, str]:
    """Return the comment of each row: n is packet n, -n is row K<n>.

    `events` are the points that supplied the bytes of these rows.
    """
    kind, source, value = (
        data.columns.take("event", n, events) for n in ("event", "source", "data")
    )
    probe = value.astype(np.int64) & ((1 << DETAIL_BITS) - 1)
    made = {}
    for row, is_point, log, number in zip(
        rows.tolist(), (kind == SEEN_AT.number).tolist(), source.tolist(), probe.tolist(),
        strict=True,
    ):  # fmt: skip
        where = f" at {percent_encoded(data.names(log).point(number)).decode()}" if is_point else ""
        made[row] = UNSEEN + where
    return made


def marks_of_packets(data: Data, packets: Int64s) -> dict[int, str]:
    """Return a comment for each of `packets`, which are from a log opened without a capture."""
    return dict.fromkeys(packets.tolist(), UNSEEN)
