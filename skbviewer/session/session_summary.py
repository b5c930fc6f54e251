# SPDX-License-Identifier: MIT
"""The contents of a session as the JSON of `skbviewer info`: counts, losses, clock fits."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from ..analysis import VERDICTS, event_word
from ..matching import SAMPLED_OUT, sample_of
from ..records import SourceRow
from ..store import Columns, Database, queries, schema
from .kernel.clocks import clock_json, one_way_json
from .match_again import rules_of, rules_warning

PROTOCOLS = {4: "ipv4", 6: "ipv6"}
ETH_P_ARP = 0x0806
KERNEL_CLOCK, WALL_CLOCK = "CLOCK_MONOTONIC", "CLOCK_REALTIME"


def summary(
    db: Database, columns: Columns, sources: Sequence[SourceRow], file: Path
) -> dict[str, Any]:
    """Return the JSON object of the open session `db`.

    `file` is the session's path; `columns` and `sources` are its columns and its input files.
    """
    tables = (schema.packet, schema.series, schema.call)
    counts = {t.name: queries.count(db, t) for t in tables}
    kernel_only = queries.kernel_only_count(db)
    events = np.zeros(256, np.int64)
    for _, (kind,) in columns.pieces("event", "event"):
        events += np.bincount(kind.astype(np.uint8), minlength=256)
    by_source = {s.id: queries.meta(db, s.id) for s in sources if s.kind.is_log}
    metas = list(by_source.values())
    sampling = _sampling(by_source)
    verdicts = [verdict.replace("-", "_") for verdict in VERDICTS]
    verdicts = verdicts if sampling else verdicts[:SAMPLED_OUT]
    by_protocol = _by_protocol(columns, verdicts)
    total = {key: sum(p[key] for p in by_protocol.values()) for key in verdicts}
    rules = rules_of(db)
    warning = rules_warning(file, rules)
    return {
        "packets": counts["packet"],
        "records": sum(s.rows for s in sources if s.kind.is_log),
        "series": counts["series"],
        "calls": counts["call"],
        "matches": total | {"kernel_only": kernel_only},
        "matches_by_protocol": by_protocol,
        "lost_records": sum(int(s.detail.get("lost_records", 0)) for s in sources),
        "recorder": _recorder(metas),
        "sampling": sampling,
        "events": {event_word(kind): int(events[kind]) for kind in np.flatnonzero(events).tolist()},
        "clock": clock_json(db),
        "one_way": one_way_json(db),
        "sources": [_source(s) for s in sources],
        "same_host": _same_hosts(db, sources),
        "rules": rules,
        "warnings": [*([warning] if warning else []), *(w for s in sources for w in s.warnings)],
    }


COUNTERS: tuple[str, ...] = ("written", "bytes", "lost", "missed", "nested", "null_skb")
COUNTERS += ("filtered", "open", "unpaired")  # struct kbl_counters


def _recorder(metas: Sequence[Mapping[str, str]]) -> dict[str, int]:
    """Return the sums of the recorders' counters; counters that no log has are left out.

    The counters say why records are missing: `lost` because buffers were full, `missed` because
    probes missed hits, `nested` because a probe was hit inside another probe.
    """
    found = {}
    for name in COUNTERS:
        counts = [int(meta[f"counters.{name}"]) for meta in metas if f"counters.{name}" in meta]
        if counts:
            found[name] = sum(counts)
    return found


def _sampling(metas: Mapping[int, Mapping[str, str]]) -> list[dict[str, int]]:
    """Return each sampled log with its rate N (one connection or packet in N), seed and so on.

    `metas` holds the META of each log by source.
    """
    found = {source: sample_of(meta) for source, meta in metas.items()}
    return [{"source": source} | one._asdict() for source, one in found.items() if one]


def _by_protocol(columns: Columns, words: Sequence[str]) -> dict[str, dict[str, int]]:
    """Count packets by protocol and verdict.  Protocols that no packet has are left out.

    `words` are the keys of the first verdicts; the other verdicts do not occur in packets.
    """
    version = columns.array("packet", "ip_version")
    is_arp = columns.array("packet", "ethertype") == ETH_P_ARP
    protocol = np.select([version == 4, version == 6, is_arp], [0, 1, 2], 3)
    place = protocol * len(VERDICTS) + columns.array("packet", "verdict")
    names = (*PROTOCOLS.values(), "arp", "other")
    tally = np.bincount(place, minlength=len(names) * len(VERDICTS)).reshape(len(names), -1)
    return {
        name: dict(zip(words, map(int, counts), strict=False))
        for name, counts in zip(names, tally, strict=True)
        if counts.any()
    }


def _source(row: SourceRow) -> dict[str, Any]:
    """Return an input file as JSON: `points` counts its points, `clock` names its clock.

    Packets that are in a log have times on the wall clock of the log's host.
    """
    return row._asdict() | {
        "warnings": list(row.warnings),
        "clock": KERNEL_CLOCK if row.kind.is_log else WALL_CLOCK,
        "points": int(row.detail.get("points", 0)),
    }


def _same_hosts(db: Database, sources: Sequence[SourceRow]) -> list[dict[str, Any]]:
    """Return the pairs of a log of points and a KBL that have lifetimes in common.

    KBL time = time of the point + offset_ns, with an error of at most error_ns.
    """
    return [
        {"points": source.id, "kbl": int(key.removeprefix(schema.SAME_HOST))} | json.loads(value)
        for source in sources
        if source.kind.has_points
        for key, value in sorted(queries.meta(db, source.id).items())
        if key.startswith(schema.SAME_HOST)
    ]
