# SPDX-License-Identifier: MIT
"""The part of a trace before its events: tracks, names, clocks and counters.

The package perfetto makes these trace packets, except those with values of counters. All packets of
the trace are one sequence. The first trace packet contains the names to which later trace packets
refer by number.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import BinaryIO

import numpy as np
from perfetto.protos.perfetto.trace import perfetto_trace_pb2 as pb
from perfetto.trace_builder.proto_builder import StreamingTraceProtoBuilder

from ...records.types import Int64s
from .packet_counters import Counter
from .slices import Slices, Track
from .trace_packet_loops import LARGEST_VALUE, Fields, write_values

SEQUENCE = 1
ANNOTATIONS = ("packet", "self_ns", "cpu")  # names, whose numbers count from 1
VARINT, FIXED64, LENGTH = 0, 1, 2  # wire types
UUID = 1 << 20  # of the first track; logs have the numbers before it
SHARED_UUID = 1 << 32  # of counters
AT_ONCE = 1 << 16  # values of a counter


def fields() -> Fields:
    """Return the protobuf tags of the fields that trace_packet_loops.py writes."""
    kinds = (
        pb.TrackEvent.TYPE_SLICE_BEGIN, pb.TrackEvent.TYPE_SLICE_END, pb.TrackEvent.TYPE_INSTANT
    )  # fmt: skip

    def tag(message: type, name: str, wire: int) -> np.int64:
        number: int = message.DESCRIPTOR.fields_by_name[name].number  # type: ignore[attr-defined]
        return np.int64(number << 3 | wire)

    return Fields(
        packet=tag(pb.Trace, "packet", LENGTH),
        timestamp=tag(pb.TracePacket, "timestamp", VARINT),
        sequence=tag(pb.TracePacket, "trusted_packet_sequence_id", VARINT),
        sequence_flags=tag(pb.TracePacket, "sequence_flags", VARINT),
        track_event=tag(pb.TracePacket, "track_event", LENGTH),
        kind=tag(pb.TrackEvent, "type", VARINT),
        track=tag(pb.TrackEvent, "track_uuid", VARINT),
        name=tag(pb.TrackEvent, "name_iid", VARINT),
        category=tag(pb.TrackEvent, "category_iids", VARINT),
        flow=tag(pb.TrackEvent, "flow_ids", FIXED64),
        annotation=tag(pb.TrackEvent, "debug_annotations", LENGTH),
        annotation_name=tag(pb.DebugAnnotation, "name_iid", VARINT),
        annotation_text=tag(pb.DebugAnnotation, "string_value_iid", VARINT),
        annotation_number=tag(pb.DebugAnnotation, "int_value", VARINT),
        sequence_value=np.int64(SEQUENCE),
        flags_value=np.int64(pb.TracePacket.SEQ_NEEDS_INCREMENTAL_STATE),
        kinds=np.array(kinds, np.int64),
        counter_kind=np.int64(pb.TrackEvent.TYPE_COUNTER),
        counter_value=tag(pb.TrackEvent, "counter_value", VARINT),
    )


class Head:
    """Writes the trace packets that precede the events to an open file."""

    def __init__(self, file: BinaryIO) -> None:
        self._file, self._builder = file, StreamingTraceProtoBuilder(file)

    def _packet(self) -> pb.TracePacket:
        packet = self._builder.create_packet()
        packet.trusted_packet_sequence_id = SEQUENCE
        return packet

    def names(self, slices: Slices) -> None:
        """Write each text of the slices once, together with the number by which slices refer to it.

        Numbers start at 1; 0 means no text.
        """
        packet = self._packet()
        packet.sequence_flags = pb.TracePacket.SEQ_INCREMENTAL_STATE_CLEARED
        packet.first_packet_on_sequence = True
        packet.trace_packet_defaults.timestamp_clock_id = pb.BUILTIN_CLOCK_REALTIME
        data = packet.interned_data
        for number, name in enumerate(slices.names, 1):
            data.event_names.add(iid=number, name=name)
        for number, name in enumerate(slices.categories, 1):
            data.event_categories.add(iid=number, name=name)
        for number, name in enumerate(ANNOTATIONS, 1):
            data.debug_annotation_names.add(iid=number, name=name)
        for number, text in enumerate(slices.titles):
            if number:
                data.debug_annotation_string_values.add(iid=number, str=text.encode())
        self._builder.write_packet(packet)

    def clocks(self, session_ns: int, monotonic_ns: int) -> None:
        """Write what two clocks showed at one moment, so that Perfetto can relate the clocks.

        `session_ns` is the time of CLOCK_REALTIME, in which the events' times are given;
        `monotonic_ns` is the time of CLOCK_MONOTONIC.
        """
        packet = self._packet()
        packet.timestamp = session_ns
        packet.timestamp_clock_id = pb.BUILTIN_CLOCK_REALTIME
        packet.clock_snapshot.primary_trace_clock = pb.BUILTIN_CLOCK_REALTIME
        for clock, time in (
            (pb.BUILTIN_CLOCK_REALTIME, session_ns),
            (pb.BUILTIN_CLOCK_MONOTONIC, monotonic_ns),
        ):
            packet.clock_snapshot.clocks.add(clock_id=clock, timestamp=time)
        self._builder.write_packet(packet)

    def logs(self, titles: Mapping[int, str]) -> None:
        """Write a group of tracks for each kernel log; `titles` maps source ids to titles."""
        for source, title in titles.items():
            packet = self._packet()
            packet.track_descriptor.uuid = source
            packet.track_descriptor.name = title
            packet.track_descriptor.child_ordering = pb.TrackDescriptor.EXPLICIT
            self._builder.write_packet(packet)

    def tracks(self, tracks: Sequence[Track], of: Int64s, level: Int64s) -> None:
        """Write the tracks of slices; they get the ids UUID, UUID + 1, ...

        Track UUID + i has the slices whose track is tracks[of[i]] and whose level is level[i].
        """
        ranks = np.lexsort((level, of))
        order = sorted(range(len(tracks)), key=lambda n: (tracks[n].context, tracks[n].title))
        place = {row: at for at, row in enumerate(order)}
        for number in ranks.tolist():
            track = tracks[of[number]]
            packet = self._packet()
            descriptor = packet.track_descriptor
            descriptor.uuid, descriptor.parent_uuid = UUID + number, track.source
            descriptor.name = track.title
            descriptor.sibling_order_rank = 1000 + place[int(of[number])]
            self._builder.write_packet(packet)

    def counters(self, counters: Sequence[Counter]) -> None:
        """Write a track for each counter, and the counters' values."""
        for number, counter in enumerate(counters):
            packet = self._packet()
            descriptor, uuid = packet.track_descriptor, SHARED_UUID + number
            descriptor.uuid, descriptor.parent_uuid = uuid, counter.source
            descriptor.name = counter.title
            descriptor.sibling_order_rank = number
            descriptor.counter.unit_name = "packets"
            self._builder.write_packet(packet)
            self._values(uuid, np.maximum(counter.at, 0), counter.value)

    def _values(self, uuid: int, at: Int64s, value: Int64s) -> None:
        numbers, track = fields(), np.int64(uuid)
        buffer = np.empty(min(len(at), AT_ONCE) * LARGEST_VALUE, np.uint8)
        for first in range(0, len(at), AT_ONCE):
            part = slice(first, first + AT_ONCE)
            size = int(write_values(buffer, numbers, track, at[part], value[part]))
            self._file.write(buffer[:size].data)


def log_title(path: str, host: str) -> str:
    """Return the title of a kernel log's group of tracks: "lab (nat.kbl)"."""
    name = Path(path).name
    return f"{host} ({name})" if host else name
