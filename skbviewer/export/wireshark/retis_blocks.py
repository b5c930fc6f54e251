# SPDX-License-Identifier: MIT
"""Packets as pcapng in the blocks that `retis pcap` writes.

A custom block with the JSON schema of events comes first. Interfaces come before their first
packets. Enhanced packet blocks have two options: a comment, and the event as JSON.
docs/wireshark.md lists the differences from retis. The format is taken from the source of retis:
https://github.com/retis-org/retis, retis/src/process/cli/pcap.rs.
"""

from __future__ import annotations

import json
import struct
from collections.abc import Iterator
from itertools import chain
from pathlib import Path
from typing import NamedTuple

import numpy as np

from ...analysis.fields.field_source_tables import PACKET, Data
from ...readers import capture_description
from ...records import UNTIMED, Interface
from ...records.types import Int64s, UInt8s
from ..atomic_write import write_parts
from ..chosen_packets import Places, chosen_packets, packet_places, parts
from ..formats import Exportable, Request
from ..packets_from_tracer_log import ETHERNET, log_packets
from ..pseudonyms import Pseudonyms
from ..pseudonyms.packets import with_pseudonyms
from .pcapng_block_loops import BLOCK, OPT_COMMENT, OPT_CUSTOM_TEXT
from .pcapng_blocks import (
    IF_DESCRIPTION,
    IF_NAME,
    IF_TSRESOL,
    INTERFACE,
    NANOSECONDS,
    OPT_END,
    block,
    option,
    section,
)
from .retis_calls import EventsOfPackets
from .retis_events import (
    SCHEMA,
    UNSEEN,
    Event,
    as_json,
    event_of_log,
    name,
    probe_of,
    short_event,
    text_of,
)
from .retis_points import Point, points_of

CUSTOM = 0xBAD  # a custom block that editors may copy
RETIS = 70_000  # the number by which retis marks its blocks and options; IANA has not assigned it
SNAPLEN = 0xFFFF
LONGEST = 0xFFFF - 4  # bytes of a custom option's text
LONGEST_NAME = 60_000
UNKNOWN = "Fake interface"  # as older versions of retis describe a device that they do not know


class _Place(NamedTuple):
    """An interface of the file."""

    name: str
    description: str
    linktype: int


class _Interfaces:
    """The interfaces that the new file has so far."""

    def __init__(self) -> None:
        self._numbers: dict[_Place, int] = {}

    def of(self, place: _Place) -> tuple[int, bytes]:
        """Return an interface's number, and the block that declares the interface if it is new."""
        known = place in self._numbers
        number = self._numbers.setdefault(place, len(self._numbers))
        return number, b"" if known else self._block(place)

    def _block(self, place: _Place) -> bytes:
        texts = ((IF_NAME, place.name), (IF_DESCRIPTION, place.description))
        body = struct.pack("<HHI", place.linktype, 0, SNAPLEN)
        body += b"".join(option(code, text.encode()[:LONGEST_NAME]) for code, text in texts)
        return block(
            INTERFACE, body + option(IF_TSRESOL, bytes([NANOSECONDS])) + option(OPT_END, b"")
        )


def write_retis(recording: Exportable, request: Request, out: Path) -> None:
    """Write to the file `out` the packets that `request` names.

    Raises the exceptions of write_pcapng().
    """
    data = recording.export.field_data()
    packets, beside = chosen_packets(recording, request), log_packets(recording, request)
    interfaces = _Interfaces()
    head = [section(), _schema()]
    captured = _captured(recording, data, request, packets, interfaces)
    points = points_of(recording, request, packets, beside)
    write_parts(out, chain(head, captured, _points(points, request, interfaces)))


def _schema() -> bytes:
    text = json.dumps(SCHEMA, separators=(",", ":")).encode()
    return block(CUSTOM, struct.pack("<I", RETIS) + text + bytes(-len(text) % 4))


def _captured(
    recording: Exportable, data: Data, request: Request, packets: Int64s, interfaces: _Interfaces
) -> Iterator[bytes]:
    """Yield the blocks of packets in captures."""
    names = Pseudonyms(request.pseudonym_key) if request.pseudonym_key else None
    events, done = EventsOfPackets(data), 0
    for source in recording.sources():
        mine = packets[data.columns.take(PACKET, "source", packets - 1) == source.id]
        if source.kind.is_log or source.kind.is_of_log or not len(mine):
            continue
        file = recording.export.capture_bytes(source.id)
        theirs = _names(capture_description(Path(source.path)).interfaces)
        for some in parts(mine, data.columns.take(PACKET, "caplen", mine - 1)):
            request.progress.report("Writing packets", done, len(packets))
            done += len(some)
            of = packet_places(data, file, some, request)
            shown, begin = _shown(file, of, names)
            for row, number in enumerate(some.tolist()):
                at, size = int(begin[row]), int(of.kept[row])
                frame = shown[at : at + size].tobytes()
                event = events.of(number)
                linktype = int(of.linktype[row])
                place = _of_device(event, linktype) if event else None
                place = place or _Place(theirs[int(of.interface[row])], UNKNOWN, linktype)
                ts = max(int(of.ts[row]), 0) if of.ts[row] != UNTIMED else 0
                yield from _block_of(
                    interfaces,
                    place,
                    ts,
                    frame,
                    int(of.length[row]),
                    event,
                    text_of(event) if event else "",
                )


def _names(found: tuple[Interface, ...]) -> list[str]:
    return [f"{name(one.name) if one.name else '?'} (0)" for one in found] or ["? (0)"]


def _shown(file: UInt8s, of: Places, names: Pseudonyms | None) -> tuple[UInt8s, Int64s]:
    """Return the packets with pseudonyms (if `names` are given), and their offsets."""
    if names is None:
        return file, of.offset
    begin = np.cumsum(of.caplen) - of.caplen
    pieces = zip(of.offset.tolist(), of.caplen.tolist(), strict=True)
    copy = np.concatenate([np.zeros(0, np.uint8), *(file[at : at + n] for at, n in pieces)])
    return with_pseudonyms(copy, of.linktype, begin, of.caplen, of.length, names), begin


def _of_device(event: Event, linktype: int) -> _Place | None:
    """Return the interface of a device in a namespace; None if the device is unknown."""
    if "dev" not in event:
        return None
    device, netns = event["dev"], event.get("netns", {}).get("inum", 0)
    return _Place(f"{name(device['name'])} ({netns})", f"ifindex={device['ifindex']}", linktype)


def _points(points: Iterator[Point], request: Request, interfaces: _Interfaces) -> Iterator[bytes]:
    """Yield the blocks of points."""
    for point in points:
        event = event_of_log(point.event, bool(request.pseudonym_key))
        probe = probe_of(event)
        place = _Place(
            probe or "?", f"Fake interface for probe {probe}" if probe else UNKNOWN, ETHERNET
        )
        text = f"{text_of(event)}\n{UNSEEN}"
        yield from _block_of(interfaces, place, point.ts, point.data, point.length, event, text)


def _block_of(
    interfaces: _Interfaces,
    place: _Place,
    ts: int,
    frame: bytes,
    length: int,
    event: Event,
    text: str,
) -> Iterator[bytes]:
    number, described = interfaces.of(place)
    if described:
        yield described
    body = struct.pack("<IIIII", number, ts >> 32, ts & 0xFFFFFFFF, len(frame), length)
    options = option(OPT_COMMENT, text.encode()[:LONGEST_NAME]) if text else b""
    raw = _json_of(event)
    if raw:
        options += option(OPT_CUSTOM_TEXT, struct.pack("<I", RETIS) + raw)
    yield block(BLOCK, body + frame + bytes(-len(frame) % 4) + options + option(OPT_END, b""))


def _json_of(event: Event) -> bytes:
    """Return an event as an option's text, without some sections if it is too long.

    b"" for no event.
    """
    raw = as_json(event) if event else b""
    if len(raw) > LONGEST:
        raw = as_json(short_event(event))
    return raw if len(raw) <= LONGEST else b""
