# SPDX-License-Identifier: MIT
"""The raw records of a call: its slots in the .kbl file, field by field."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from ... import readers
from ...analysis.dissect import Node
from ...records import BadInput, Progress, SourceRow
from ...store import Database, annotation_anchors


class RawCall(NamedTuple):
    """The records of a call: a line with fields for each slot, and the bytes of all slots."""

    nodes: tuple[Node, ...]
    data: bytes


def raw_of(db: Database, call: int, sources: Sequence[SourceRow], progress: Progress) -> RawCall:
    """Return the raw records of a call: the footprint that applies to it, then the call.

    Raises KeyError for an unknown call, BadInput if the KBL has moved or changed; raises Cancelled.
    """
    source, ordinal = annotation_anchors.record_of_call(db, call)
    row = sources[source - 1]
    path = Path(row.path)
    if not path.is_file() or path.stat().st_size != row.size:
        raise BadInput(path, None, "was moved or changed after the import")
    nodes: list[Node] = []
    data = b""
    for record in readers.raw_records(path, ordinal, progress):
        for slot in readers.slots_of(record):
            nodes.append(_node(record, slot, len(data)))
        data += record.data
    return RawCall(tuple(nodes), data)


def _node(record: readers.RawRecord, slot: readers.RawSlot, base: int) -> Node:
    fields = tuple(
        Node(f"{field.name}: {field.value}", base + field.offset, field.length)
        for field in slot.fields
    )
    place = record.offset + slot.offset
    text = f"{slot.title}, record {record.ordinal}, CPU {record.cpu}, at byte {place} of the file"
    return Node(text, base + slot.offset, readers.SLOT_SIZE, fields)
