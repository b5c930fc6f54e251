# SPDX-License-Identifier: MIT
"""Lanes of a timeline for CPUs and queues: threads, interrupts, locks, lengths of queues."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from ...analysis.stats import Chosen
from ...analysis.stats.machine.cpu_and_queue_spans import EVENTS, named_spans
from ...analysis.timeline.function_numbers import layer_names
from ...analysis.timeline.lanes import Lane, Part
from ...analysis.timeline.packet_session_times import Clock
from ...analysis.timeline.pixel_bins import durations
from ...records import Progress
from ...store import Database
from ..open_session_file import OpenedFile
from .statistics_scope import details_of, scope_of

MOST_NAMES = 1 << 16  # names have 16-bit numbers
LAYER = "other"  # the colour of such boxes


def machine_lanes(
    db: Database,
    opened: OpenedFile,
    clock: Clock,
    begin_ns: int,
    names: Sequence[str],
    logs: Mapping[int, str],
    watch: Progress | None,
) -> tuple[Part, list[Lane], tuple[str, ...]]:
    """Return boxes, lanes without rows, and `names` followed by the names in the boxes.

    Times are session times minus `begin_ns`, ns.  If titles must name the log, `logs` contains the
    names of the logs.  Raises Cancelled.
    """
    given = (db, opened.columns, opened.sources(), clock, Chosen(), watch, None)
    recorded = np.isin(opened.columns.once("event", "event"), EVENTS).any()
    lanes = named_spans(scope_of(*given, details_of(opened.database))) if recorded else []
    number = {name: at for at, name in enumerate(names)}
    begins, ends, items, texts = [], [], [], []
    for lane in lanes:
        for name in lane.names:
            number.setdefault(name, len(number))
        texts.append(np.array([number[name] for name in lane.names], np.int64)[lane.name])
        begins.append(clock.to_session(lane.source, lane.begin) - begin_ns)
        ends.append(clock.to_session(lane.source, lane.end) - begin_ns)
        items.append(lane.event.astype(np.int32))
    of = np.repeat(np.arange(len(lanes)), [len(one) for one in begins])
    none = np.zeros(0, np.int64)
    text = np.concatenate([none, *texts])
    begin = np.concatenate([none, *begins])
    part = Part(
        of, begin, durations(begin, np.concatenate([none, *ends])),
        np.full(len(of), layer_names().index(LAYER), np.uint8),
        np.concatenate([none.astype(np.int32), *items]),
        np.where(text < MOST_NAMES, text, 0).astype(np.uint16),
    )  # fmt: skip
    known = [Lane(_title(one.title, logs.get(one.source, "")), 0, 0, "events", one.key, one.source)
             for one in lanes]  # fmt: skip
    return part, known, tuple(number)[:MOST_NAMES]


def _title(title: str, log: str) -> str:
    return f"{title} ({log})" if log else title
