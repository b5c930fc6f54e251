# SPDX-License-Identifier: MIT
"""How a session was recorded, as far as comparisons with other recordings need it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from ...analysis.comparison.recording_differences import RecordingConditions
from ...records import SourceRow
from ...store import Database, queries
from ..match_again import rules_of

MECHANISMS = {"1": "kretprobes", "2": "fprobe", "3": "probes in the source"}  # kbl.h


def recording_conditions(db: Database, sources: Sequence[SourceRow]) -> RecordingConditions:
    """Return how a session was recorded: kernels, hosts, probes, filters, losses.

    `sources` are the inputs of `db`; the captures among them are ignored.
    """
    logs = [source for source in sources if source.kind.is_log]
    metas = [queries.meta(db, log.id) for log in logs]
    probed = [queries.armed_functions(db, log.id) for log in logs]
    return RecordingConditions(
        releases=_distinct(log.detail.get("release", "") for log in logs),
        kernels=_distinct(meta.get("kernel", "") for meta in metas),
        hosts=_distinct(log.detail.get("hostname", "") for log in logs),
        architectures=_distinct(log.detail.get("arch", "") for log in logs),
        probed=frozenset().union(*probed),
        mechanisms=_distinct(map(_mechanism, metas)),
        counters=_distinct(meta.get("counter", "") for meta in metas),
        filters=_distinct(meta.get("filter", "") for meta in metas),
        cpus=_distinct(meta.get("nr_cpus", "") for meta in metas),
        rules=rules_of(db),
        lost=sum(int(log.detail.get("lost_records", 0)) for log in logs),
        points=any("points" in log.detail for log in logs),
        logs=len(logs),
    )


def _distinct(words: Iterable[str]) -> tuple[str, ...]:
    return tuple(sorted(set(words)))


def _mechanism(meta: Mapping[str, str]) -> str:
    """Return how the probes of a log work, without their cost, which differs between loads."""
    number = meta.get("calibration.mechanism", "")
    return MECHANISMS.get(number, f"mechanism {number}" if number else "")
