# SPDX-License-Identifier: MIT
"""Read a trace with the messages of the package perfetto, message by message."""

from __future__ import annotations

from collections import Counter, defaultdict
from pathlib import Path
from typing import Any, NamedTuple

from perfetto.protos.perfetto.trace import perfetto_trace_pb2 as pb


class Slice(NamedTuple):
    """One call; times are ns by the clock of the trace."""

    track: str
    name: str
    category: str
    begin: int
    end: int
    packets: frozenset[str]
    own: int | None
    cpu: int
    flows: tuple[int, ...]


class Instant(NamedTuple):
    track: str
    name: str
    at: int
    packets: frozenset[str]


class Trace(NamedTuple):
    slices: list[Slice]
    instants: list[Instant]
    counters: dict[str, list[tuple[int, int]]]
    clocks: dict[int, int]
    tracks: dict[int, str]
    parents: dict[int, int]


def read(path: Path) -> Trace:
    """Read a trace.  Every end must close the last begin of its track, and times must ascend."""
    trace = pb.Trace()
    trace.ParseFromString(path.read_bytes())
    names: dict[str, dict[int, str]] = defaultdict(dict)
    made = Trace([], [], defaultdict(list), {}, {}, {})
    stacks: dict[int, list[tuple[int, Any]]] = defaultdict(list)
    last: Counter[int] = Counter()
    for packet in trace.packet:
        assert packet.trusted_packet_sequence_id == trace.packet[0].trusted_packet_sequence_id
        _intern(packet.interned_data, names)
        if packet.HasField("clock_snapshot"):
            made.clocks.update({c.clock_id: c.timestamp for c in packet.clock_snapshot.clocks})
        if packet.HasField("track_descriptor"):
            descriptor = packet.track_descriptor
            assert descriptor.uuid not in made.tracks
            made.tracks[descriptor.uuid] = descriptor.name
            made.parents[descriptor.uuid] = descriptor.parent_uuid
        if packet.HasField("track_event"):
            event, at = packet.track_event, packet.timestamp
            assert at >= last[event.track_uuid]
            last[event.track_uuid] = at
            _event(event, at, names, made, stacks[event.track_uuid])
    assert not any(stacks.values())
    return made


def _intern(data: Any, names: dict[str, dict[int, str]]) -> None:
    for kind in ("event_names", "event_categories", "debug_annotation_names"):
        names[kind].update({entry.iid: entry.name for entry in getattr(data, kind)})
    for entry in data.debug_annotation_string_values:
        names["texts"][entry.iid] = entry.str.decode()


def _event(event: Any, at: int, names: Any, made: Trace, stack: list[tuple[int, Any]]) -> None:
    track = made.tracks[event.track_uuid]
    if event.type == pb.TrackEvent.TYPE_COUNTER:
        made.counters[track].append((at, event.counter_value))
    elif event.type == pb.TrackEvent.TYPE_SLICE_BEGIN:
        stack.append((at, event))
    elif event.type == pb.TrackEvent.TYPE_SLICE_END:
        begin, first = stack.pop()
        title, values = _details(first, names)
        (category,) = (names["event_categories"][iid] for iid in first.category_iids)
        name = names["event_names"][first.name_iid]
        assert not stack or stack[-1][0] <= begin
        made.slices.append(Slice(
            track, name, category, begin, at, title, values.get("self_ns"), values["cpu"],
            tuple(first.flow_ids),
        ))  # fmt: skip
    else:
        assert event.type == pb.TrackEvent.TYPE_INSTANT
        title, _ = _details(event, names)
        made.instants.append(Instant(track, names["event_names"][event.name_iid], at, title))


def _details(event: Any, names: Any) -> tuple[frozenset[str], dict[str, int]]:
    """Return the packets of an event, and its numbers."""
    packets, values = frozenset[str](), {}
    for annotation in event.debug_annotations:
        name = names["debug_annotation_names"][annotation.name_iid]
        if name == "packet":
            packets = frozenset(names["texts"][annotation.string_value_iid].split(", "))
        else:
            values[name] = annotation.int_value
    return packets, values
