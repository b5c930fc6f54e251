# SPDX-License-Identifier: MIT
"""The format of the comments that carry the kernel fields of a packet, and which fields they have.

A comment is PREFIX, and for each field that the packet has: a space, the field's name without
"kbl.", "=", and the field's distinct values, separated by commas. A field of the type label has
only its name. Durations are whole ns, truth values 0 or 1, kernel addresses hexadecimal. All bytes
of a text except SAFE ones are percent-encoded, so that no text can look like a field.

Fields that can be derived from other fields are left out (DERIVED); callers are written only with
their offset.

The exporter writes MARK in no other comment: in comments of the capture or of the user, MARK is
written with ";" in place of ":". Every comment that begins with PREFIX was therefore written by the
exporter.

Wireshark needs about 50 instructions for each byte of a comment that a script reads, and a packet
can have a hundred calls. The fields are divided into four comments (PARTS): fields of the packet,
names of calls, numbers of calls, and fields that few filters need. All comments but the first begin
with PREFIX, a space and the name of their part. A comment that is too long is continued in further
comments.

The first comment also has the least and the greatest value of some fields of calls (RANGED), under
their name and "_range". The least and the greatest value suffice for a filter that compares the
field by < or >.
"""

from __future__ import annotations

from typing import NamedTuple

from ...analysis.fields.all_fields import FIELDS, Field
from ...analysis.fields.field_definition import Kind
from ...analysis.fields.field_source_tables import DROP, LEG, ROW

MARK = b"skbviewer:"
PREFIX = MARK + b"kbl/2"  # 2 is the version of the format
COMMON = "kbl."  # what all names begin with, which comments leave out
SAFE = frozenset(b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_.:+-")
LONGEST = 60_000  # bytes of a comment; a longer one is continued in another (the limit is 65,535)
LONGEST_TEXT = 1000  # characters of a value; no kernel has a longer name

COMMENT_FIELDS: tuple[Field, ...] = tuple(
    field for name, field in FIELDS.items() if name.partition(".")[0] == "kbl"
)
# Fields that are made of others, so that comments need not have them.
DERIVED = {
    "kbl.matched": ("kbl.verdict",),
    "kbl.latency": ("kbl.in_kernel",),
    "kbl.addr": ("kbl.src", "kbl.dst"),
    "kbl.addr6": ("kbl.src6", "kbl.dst6"),
}
SHORTENED = "kbl.caller"  # has each value also without what stands after "+"
WRITTEN_FIELDS = tuple(field for field in COMMENT_FIELDS if field.name not in DERIVED)


class Part(NamedTuple):
    """One of the comments of a packet: the name at its begin ("" for none), and its fields."""

    name: str
    fields: tuple[Field, ...]


NAMES = ("kbl.func", "kbl.layer", "kbl.context", "kbl.comm", "kbl.path")
NUMBERS = ("kbl.dur", "kbl.self", "kbl.cpu", "kbl.pid", "kbl.depth")
RARE = ("kbl.netns", "kbl.confidence")  # few filters ask for them
_FIRST = tuple(
    field
    for field in WRITTEN_FIELDS
    if field.table in (ROW, LEG, DROP) and field.name not in (*NAMES, *RARE)
)
_OTHERS = tuple(
    field
    for field in WRITTEN_FIELDS
    if field not in _FIRST and field.name not in (*NAMES, *NUMBERS)
)
PARTS = (
    Part("", _FIRST),
    Part("names", tuple(FIELDS[name] for name in NAMES)),
    Part("numbers", tuple(FIELDS[name] for name in NUMBERS)),
    Part("others", _OTHERS),
)
RANGED = (FIELDS["kbl.dur"], FIELDS["kbl.self"])
KINDS = frozenset(
    {Kind.LABEL, Kind.BOOLEAN, Kind.UNSIGNED, Kind.DURATION, Kind.FLOAT, Kind.STRING, Kind.KERNEL}
    | {Kind.IPV4, Kind.IPV6}
)
assert all(field.kind in KINDS for field in COMMENT_FIELDS)


def short_name(name: str) -> str:
    """Return the name of a field in comments: "verdict" for kbl.verdict."""
    return name.removeprefix(COMMON)


def range_name(field: Field) -> str:
    """Return the name under which a field's range is written: "dur_range" for kbl.dur."""
    return f"{short_name(field.name)}_range"


def foreign(comment: bytes) -> bytes:
    """Return a capture's comment with each MARK changed, as pcapng_block_loops.py does it."""
    return comment.replace(MARK, MARK[:-1] + b";")


def percent_encoded(text: str) -> bytes:
    """Return `text` in UTF-8 and percent-encoded; what exceeds LONGEST_TEXT is cut off."""
    raw = text[:LONGEST_TEXT].encode("utf-8", "surrogatepass")
    return b"".join(b"%c" % byte if byte in SAFE else b"%%%02X" % byte for byte in raw)
