# SPDX-License-Identifier: MIT
"""Write the packets of a capture and their matches as rows of a session's tables."""

from __future__ import annotations

import numpy as np

from ...matching import Matches
from ...records import STORED_PACKET_DTYPE, Packets, parts, scratch_of
from ...store import BulkRows, NewRows, of_columns, schema
from .call_rows import Columns, constant_column
from .packet_summary import PacketSummary
from .processed_log import FollowedLog


def packet_rows(source: int, packets: Packets, summary: PacketSummary) -> NewRows:
    """Return the packets of a capture as rows of table `packet`; `source` is its source id.

    `summary` has the verdicts and the times of the packets.
    """
    scratch = scratch_of(packets)

    def make(rows: slice) -> Columns:
        scratch.passed()
        columns: Columns = dict(parts(packets, STORED_PACKET_DTYPE.names or (), rows))
        columns |= summary.columns(rows)
        return columns | {"source": constant_column(source, len(columns["ts"]))}

    return BulkRows(schema.packet, len(packets), make)


def match_rows(found: Matches, log: FollowedLog, number: int) -> tuple[NewRows, NewRows]:
    """Return the matches of a capture with a log as rows of tables `match` and `moment`.

    `number` is the number of packets in earlier captures.
    """
    rows = found.rows
    columns = {name: rows[name] for name in ("verdict", "rung", "confidence", "delta_ns")}
    columns["packet"] = rows["packet"] + number + 1
    columns["leg"] = rows["leg"] + log.first["leg"] + 1
    matches = of_columns(schema.match, columns)
    moments = found.moments
    columns = {name: moments[name] for name in schema.moment.names}
    columns["socket"] = moments["socket"].astype(np.uint8)
    columns["packet"] = moments["packet"] + number + 1
    columns["leg"] = moments["leg"] + log.first["leg"] + 1
    return matches, of_columns(schema.moment, columns)
