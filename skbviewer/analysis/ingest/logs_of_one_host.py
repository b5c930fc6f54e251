# SPDX-License-Identifier: MIT
"""Find logs of points that were recorded on the same host as other kernel logs."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence

from ...matching import SameHost, same_host
from ...store import FewRows, schema
from .capture_matches import epoch_ns
from .processed_log import FollowedLog


def logs_of_one_host(logs: Sequence[FollowedLog]) -> dict[tuple[int, int], SameHost]:
    """Return the lifetimes that a log of points shares with another log, by their source ids.

    Pairs of logs that share no lifetimes are left out.
    """
    found = {}
    for points, other in _pairs(logs):
        own = points.kernel_side.log.own_packets
        if own is None:
            continue
        apart = epoch_ns(points.kernel_side.log) - epoch_ns(other.kernel_side.log)
        same = same_host(points.spans, own, other.spans, other.kernel_side, apart)
        if same is not None:
            found[points.source, other.source] = same
    return found


def _pairs(logs: Sequence[FollowedLog]) -> Iterator[tuple[FollowedLog, FollowedLog]]:
    for points in logs:
        if not points.kernel_side.log.returns:
            for other in logs:
                if other.kernel_side.log.returns:
                    yield points, other


def same_host_rows(found: Mapping[tuple[int, int], SameHost]) -> FewRows:
    """Return a row of table `meta` for each pair of logs that logs_of_one_host() `found`."""
    return FewRows(
        schema.meta,
        [
            (points, f"{schema.SAME_HOST}{kbl}", json.dumps(_values(same)))
            for (points, kbl), same in found.items()
        ],
    )


def _values(same: SameHost) -> dict[str, int | bool]:
    return {
        "offset_ns": same.offset_ns,
        "error_ns": same.error_ns,
        "one_clock": same.is_one_clock,
        "lifetimes": len(same.points),
        "agreeing": same.agreeing,
    }
