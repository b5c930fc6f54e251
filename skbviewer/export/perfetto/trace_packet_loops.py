# SPDX-License-Identifier: MIT
"""Serialise slices' starts and ends, instants and counter values as TracePackets, in one loop.

The package perfetto takes some microseconds to write one message. Therefore a loop writes the bytes
of messages; the numbers of fields come from the package (trace_fields.py). Encoding:
https://protobuf.dev/programming-guides/encoding
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ...records.compiled import Int, allocation_free, compiled
from ...records.types import Int64s, UInt8s
from .track_nesting_loops import END

LARGEST = 160  # bytes of a packet without its flows
LARGEST_VALUE = 64  # bytes of a packet with the value of a counter
FLOW = 10  # bytes of a flow


class Fields(NamedTuple):
    """Tags of protobuf fields (number << 3 | wire type), and field values that never change."""

    packet: np.int64
    timestamp: np.int64
    sequence: np.int64
    sequence_flags: np.int64
    track_event: np.int64
    kind: np.int64
    track: np.int64
    name: np.int64
    category: np.int64
    flow: np.int64
    annotation: np.int64
    annotation_name: np.int64
    annotation_text: np.int64
    annotation_number: np.int64
    sequence_value: np.int64
    flags_value: np.int64
    kinds: Int64s  # values of kind for BEGIN, END and INSTANT
    counter_kind: np.int64
    counter_value: np.int64


class Events(NamedTuple):
    """Columns of the events to write; an event refers to a row of the slices' columns."""

    kind: Int64s
    row: Int64s
    when: Int64s
    name: Int64s  # here and below: by row
    category: Int64s
    track: Int64s  # uuid
    title: Int64s
    own: Int64s
    cpu: Int64s
    flows: Int64s
    ends: Int64s


@allocation_free
def _varint(out: UInt8s, at: Int, value: Int) -> np.int64:
    """Write a number that is not negative; return the position after it."""
    place, left = np.int64(at), np.int64(value)
    while left >= 128:
        out[place] = np.uint8((left & np.int64(127)) | np.int64(128))
        left >>= np.int64(7)
        place += 1
    out[place] = np.uint8(left)
    return place + 1


@compiled
def _field(out: UInt8s, at: Int, tag: Int, value: Int) -> np.int64:
    return _varint(out, _varint(out, at, tag), value)


@compiled
def _length(out: UInt8s, at: Int, end: Int) -> None:
    """Write the length of a part of a message into the two bytes at `at`.

    The part begins after its two bytes of length, and ends before `end`.
    """
    size = np.int64(end) - np.int64(at) - 2
    out[at] = np.uint8((size & np.int64(127)) | np.int64(128))
    out[at + 1] = np.uint8(size >> np.int64(7))


@compiled
def _annotation(out: UInt8s, at: Int, fields: Fields, name: Int, tag: Int, value: Int) -> np.int64:
    """Write an annotation whose name is number `name`."""
    begin = _varint(out, at, fields.annotation)
    place = _field(out, begin + 1, fields.annotation_name, name)
    place = _field(out, place, tag, value)
    out[begin] = np.uint8(place - begin - 1)
    return place


@compiled
def _details(out: UInt8s, at: Int, fields: Fields, events: Events, row: Int) -> np.int64:
    """Write all fields of a start or an instant except its time and track."""
    place = _field(out, at, fields.name, events.name[row] + 1)
    place = _field(out, place, fields.category, events.category[row] + 1)
    if events.title[row] > 0:
        text, title = fields.annotation_text, events.title[row]
        place = _annotation(out, place, fields, np.int64(1), text, title)
    if events.own[row] >= 0:
        own = events.own[row]
        place = _annotation(out, place, fields, np.int64(2), fields.annotation_number, own)
    if events.cpu[row] >= 0:
        cpu = events.cpu[row]
        place = _annotation(out, place, fields, np.int64(3), fields.annotation_number, cpu)
    for one in range(events.ends[row], events.ends[row + 1]):
        place = _varint(out, place, fields.flow)
        for byte in range(8):
            out[place] = np.uint8((events.flows[one] >> np.int64(8 * byte)) & np.int64(255))
            place += 1
    return place


@compiled
def _begin(
    out: UInt8s, at: Int, fields: Fields, when: Int, kind: Int, track: Int
) -> tuple[np.int64, np.int64, np.int64]:
    """Write the start of a trace packet; return the positions of its lengths, and its end."""
    size_at = _varint(out, at, fields.packet)
    place = _field(out, size_at + 2, fields.timestamp, when)
    place = _field(out, place, fields.sequence, fields.sequence_value)
    place = _field(out, place, fields.sequence_flags, fields.flags_value)
    inner_at = _varint(out, place, fields.track_event)
    place = _field(out, inner_at + 2, fields.kind, kind)
    return size_at, inner_at, _field(out, place, fields.track, track)


@compiled
def write_events(out: UInt8s, fields: Fields, events: Events, first: int, last: int) -> np.int64:
    """Write the events from `first` to `last` - 1 into `out`; return the number of bytes written.

    An event needs at most LARGEST bytes, and FLOW bytes for each flow. An event must stay below 16
    KiB, because lengths are written in two bytes; an event with at most 1000 flows is smaller than
    that.
    """
    at = np.int64(0)
    for i in range(first, last):
        kind, row = events.kind[i], events.row[i]
        size_at, inner_at, place = _begin(
            out, at, fields, events.when[i], fields.kinds[kind], events.track[row]
        )
        if kind != END:
            place = _details(out, place, fields, events, row)
        _length(out, inner_at, place)
        _length(out, size_at, place)
        at = place
    return at


@compiled
def write_values(out: UInt8s, fields: Fields, track: Int, when: Int64s, value: Int64s) -> np.int64:
    """Write the values of a counter into `out`; return the number of bytes written.

    Times and values are not negative.  A value needs at most LARGEST_VALUE bytes.
    """
    at = np.int64(0)
    for i in range(len(when)):
        size_at, inner_at, place = _begin(out, at, fields, when[i], fields.counter_kind, track)
        place = _field(out, place, fields.counter_value, value[i])
        _length(out, inner_at, place)
        _length(out, size_at, place)
        at = place
    return at
