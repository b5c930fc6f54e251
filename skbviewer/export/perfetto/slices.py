# SPDX-License-Identifier: MIT
"""Calls and events of chosen legs as columns, before they become a trace.

A call that handled several packets is one slice.  Times are session time, ns.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

import numpy as np

from ...analysis.fields.all_fields import FIELDS
from ...analysis.fields.field_source_tables import CALL, DROP, Data, View
from ...analysis.packet_path import CONTEXTS
from ...analysis.words.event_text import event_word
from ...analysis.words.kernel_log_names import IDLE, task_name
from ...records.kbl_layout import KblEvent
from ...records.kernel_events import SEEN_AT
from ...records.types import Int64s
from ..chosen_rows import session_times
from ..formats import Exportable
from .chosen_legs import ChosenLegs

EVENT = "event"
EVENTS = "event"  # the category of events
TASK = 0  # the context of threads
CONTEXTS_MOST, LOW32 = 256, 0xFFFFFFFF
MOST_FLOWS = 64  # of a call: as many packets as a KBL holds of one
NONE = -1  # no return, no self time
SAME = ("source", "cpu", "entry_ns", "func", "dur_ns", "pid")  # of rows of one call


class Track(NamedTuple):
    """What a track shows: a thread, or a context (such as softirq) of a CPU."""

    source: int
    context: int
    key: int  # thread, or CPU without a thread
    title: str


class Slices(NamedTuple):
    """Columns with a row for each call and each event.

    The flows of row i are flows[ends[i] : ends[i + 1]].
    """

    begin: Int64s
    end: Int64s  # NONE: an event, or a call whose return was not recorded
    depth: Int64s
    name: Int64s  # index of `names`
    category: Int64s  # index of `categories`
    track: Int64s  # index of `tracks`
    title: Int64s  # index of `titles`
    own: Int64s  # self time, NONE if unknown
    cpu: Int64s
    flows: Int64s
    ends: Int64s
    names: tuple[str, ...]
    categories: tuple[str, ...]
    titles: tuple[str, ...]  # packets
    tracks: tuple[Track, ...]


class _Texts:
    """Assigns a number to each text, in the order of first use."""

    def __init__(self, *first: str) -> None:
        self.number = {text: n for n, text in enumerate(first)}

    def codes(self, texts: Iterable[str]) -> Int64s:
        made = [self.number.setdefault(text, len(self.number)) for text in texts]
        return np.array(made, np.int64)

    def of_field(self, view: View, field: str) -> Int64s:
        """Return the first value of a field in each row; "" for a row without a value."""
        values = FIELDS[field].make(view)[0]
        codes = np.r_[self.codes(values.texts or ()), self.codes([""])]
        made: Int64s = codes[np.where(values.present(), values.low, -1)]
        return made


def rows_of(data: Data, table: str, legs: ChosenLegs) -> Int64s:
    """Return the 0-based rows of table `table` (calls or events) that belong to the chosen legs."""
    leg = data.columns.array(table, "leg").astype(np.int64)
    return np.flatnonzero(np.r_[legs.chosen, False][np.maximum(leg, 0) - 1] & (leg > 0))


def slices_of(recording: Exportable, legs: ChosenLegs, calls: Int64s, events: Int64s) -> Slices:
    """Return the slices of `calls` and `events`, which are 0-based rows of the tables.

    A call that handled several packets is one slice with several flows. Times are session time, ns.
    """
    data = recording.export.field_data()
    names, categories, titles = _Texts(), _Texts(), _Texts(*legs.titles)
    first, members, bounds = _distinct(data, legs, calls)
    tracks = _Tracks(data)
    rows = np.r_[calls[first], events]
    views = View(data, CALL, calls[first]), View(data, EVENT, events)

    def both(name: str) -> Int64s:
        return np.concatenate([view.column(name).astype(np.int64) for view in views])

    source = legs.source[both("leg") - 1]
    time = np.r_[views[0].column("entry_ns"), views[1].column("ts")].astype(np.int64)
    begin, dur = session_times(recording, source, time), views[0].column("dur_ns").astype(np.int64)
    of_calls, alone = len(first), np.full(len(events), NONE, np.int64)
    end = np.where(dur >= 0, begin[:of_calls] + dur, NONE)
    flows, ends = _flows(data, legs, calls, members, bounds)
    return (
        Slices(
            begin=begin,
            end=np.r_[end, alone],
            depth=np.r_[views[0].column("depth").astype(np.int64), alone],
            name=np.r_[names.of_field(views[0], "kbl.func"), _event_names(views[1], names)],
            category=np.r_[
                categories.of_field(views[0], "kbl.layer"),
                np.repeat(categories.codes([EVENTS]), len(events)),
            ],
            track=tracks.of(source, both("context"), both("pid"), both("cpu")),
            title=np.r_[
                _titles(data, legs, calls[members], bounds, titles),
                legs.title[views[1].column("leg").astype(np.int64) - 1],
            ],
            own=np.r_[views[0].column("self_ns").astype(np.int64), alone],
            cpu=both("cpu"),
            flows=flows,
            ends=np.r_[ends, np.repeat(ends[-1:], len(events))],
            names=tuple(names.number),
            categories=tuple(categories.number),
            titles=tuple(titles.number),
            tracks=tuple(tracks.found),
        )
        if len(rows)
        else _nothing(legs)
    )


def _nothing(legs: ChosenLegs) -> Slices:
    none, one = np.zeros(0, np.int64), np.zeros(1, np.int64)
    columns = none, none, none, none, none, none, none, none, none, none, one
    return Slices(*columns, (), (), legs.titles, ())


def _distinct(data: Data, legs: ChosenLegs, calls: Int64s) -> tuple[Int64s, Int64s, Int64s]:
    """Group `calls`, rows of table call, so that the rows of one call are together.

    Returns the first row of each call, all rows sorted by call, and the bounds of each call in the
    sorted rows.
    """
    columns = [
        legs.source[data.columns.take(CALL, "leg", calls).astype(np.int64) - 1],
        *(data.columns.take(CALL, name, calls).astype(np.int64) for name in SAME[1:]),
    ]
    order = np.lexsort(columns)
    new = np.ones(len(calls), np.bool_)
    if len(calls):
        new[1:] = np.any([column[order][1:] != column[order][:-1] for column in columns], 0)
    starts = np.flatnonzero(new)
    return order[starts], order, np.r_[starts, len(calls)]


def _titles(data: Data, legs: ChosenLegs, rows: Int64s, bounds: Int64s, titles: _Texts) -> Int64s:
    """Return for each call the number of the text that names the call's packets.

    `rows` are the rows of table call, sorted by call.
    """
    leg = data.columns.take(CALL, "leg", rows).astype(np.int64)
    title = legs.title[leg - 1]
    made = title[bounds[:-1]]
    for one in np.flatnonzero(np.diff(bounds) > 1).tolist():
        parts = dict.fromkeys(
            part
            for number in title[bounds[one] : bounds[one + 1]].tolist()
            for part in legs.titles[number].split(", ")
            if part
        )
        made[one] = titles.codes([", ".join(parts)])[0]
    return made


def _flows(
    data: Data, legs: ChosenLegs, calls: Int64s, members: Int64s, bounds: Int64s
) -> tuple[Int64s, Int64s]:
    """Return the flows of each call; a flow connects the calls of one packet.

    A call has the flows of the legs in which it is the outermost call; flows of a single slice are
    left out.
    """
    rows = calls[members]
    outermost = data.columns.take(CALL, "parent", rows) <= 0
    leg = data.columns.take(CALL, "leg", rows).astype(np.int64)
    slice_, flow = np.repeat(np.arange(len(bounds) - 1), np.diff(bounds)), legs.flow[leg - 1]
    flows, code = np.unique(flow[outermost], return_inverse=True)
    most = max(len(flows), 1)
    pairs = np.unique(slice_[outermost] * most + code)  # as numbers, which are faster to sort
    owner, code = pairs // most, pairs % most
    shared = np.bincount(code, minlength=most)[code] > 1
    owner, code = owner[shared], code[shared]
    few = np.arange(len(owner)) - np.searchsorted(owner, owner) < MOST_FLOWS
    owner, code = owner[few], code[few]
    return flows[code], np.searchsorted(owner, np.arange(len(bounds)))


def _event_names(view: View, names: _Texts) -> Int64s:
    """Return the name of each event, with the reason of a drop and the probe of a point."""
    kinds = view.column("event").astype(np.int64)
    codes = np.zeros(256, np.int64)
    for kind in np.unique(kinds).tolist():
        codes[kind] = names.codes([event_word(kind)])[0]
    made = codes[kinds]
    drops = np.flatnonzero(kinds == KblEvent.DROP)
    if len(drops):
        assert view.rows is not None
        reasons = FIELDS["kbl.drop_reason"].make(View(view.data, EVENT, view.rows[drops]))[0]
        texts = names.codes(f"{DROP} {text}" for text in reasons.texts or ())
        made[drops] = np.where(reasons.present(), texts[reasons.low], made[drops])
    points = kinds == SEEN_AT.number
    probe = view.column("data").astype(np.int64) & LOW32  # above it: the number of its sections
    where = np.stack([view.column("source").astype(np.int64), probe], 1)
    for source, number in np.unique(where[points], axis=0).tolist():
        place = view.data.names(source).point(number)
        here = points & (where == [source, number]).all(1)
        made[here] = names.codes([f"seen at {place}"])[0]
    return made


class _Tracks:
    """The tracks of calls and events; `found` has the tracks in the order of their first use."""

    def __init__(self, data: Data) -> None:
        self._data = data
        self.found: list[Track] = []

    def of(self, source: Int64s, context: Int64s, pid: Int64s, cpu: Int64s) -> Int64s:
        """Return the track of each row.

        Each thread has a track. The interrupts and the idle task of each CPU have tracks, too.
        """
        of_cpu = (context != TASK) | (pid == IDLE)
        key = np.where(of_cpu, cpu, pid) & LOW32
        packed = ((source * CONTEXTS_MOST + context) * 2 + of_cpu) << 32 | key
        distinct, place = np.unique(packed, return_inverse=True)
        for number in distinct.tolist():
            rest, is_cpu = divmod(number >> 32, 2)
            log, kind = divmod(rest, CONTEXTS_MOST)
            self.found.append(self._track(log, kind, number & LOW32, is_cpu))
        return place.astype(np.int64)

    def _track(self, source: int, context: int, key: int, of_cpu: int) -> Track:
        tasks = self._data.names(source).tasks
        if not of_cpu:
            name = task_name(tasks, key, 0)
            title = f"{name} [{key}]" if name else f"[{key}]"
        else:
            word = CONTEXTS[context] if 0 <= context < len(CONTEXTS) else f"context {context}"
            title = f"CPU {key} {'idle' if context == TASK else word}"
        return Track(source, context, key, title)
