# SPDX-License-Identifier: MIT
"""The tables of a session file.

Bulk tables are declared from the numpy dtypes of `records` and from the layouts below, so each
column is declared once.  Row ids start at 1 and have no gaps.  Addresses are signed 64-bit numbers.
An unknown number is -1 in tables (0 if the dtype is unsigned, NO_DELTA if -1 is a valid distance),
and NULL in the views that views/ declares.
"""

from __future__ import annotations

import numpy as np

from ..records import (
    CHANGE_DTYPE,
    IDENTITY_DTYPE,
    RECORD_DTYPE,
    STORED_PACKET_DTYPE,
    SYSCALL_DTYPE,
)
from .table_declarations import BLOB, FLOAT, INTEGER, TEXT, Column, Index, Table

SCHEMA_VERSION = 10
APPLICATION_ID = 0x736B6276  # "skbv"

MATCH_COLUMNS = np.dtype(
    [
        ("verdict", "u1"),  # 0 exact, 1 ambiguous, 2 wire-only, 3 sampled out
        ("rung", "i1"),
        ("confidence", "<f8"),
        ("kernel_ns", "<i8"),  # here and below: -1 = unknown
        ("busy_ns", "<i8"),
        ("unknown_ns", "<i8"),  # kernel_ns - busy_ns - unknown_ns is the waiting time
        ("cpu_ns", "<i8"),
        ("functions", "<i4"),
    ]
)

TABLES: dict[str, Table] = {}
OPTIONAL = frozenset({"code", "result"})  # tables that earlier builds of this version did not make


def _columns(dtype: np.dtype[np.void]) -> list[Column]:
    names = dtype.names or ()
    return [Column(name, FLOAT if dtype[name].kind == "f" else INTEGER) for name in names]


def _table(name: str, *columns: Column) -> Table:
    TABLES[name] = Table(name, columns)
    return TABLES[name]


def _integers(*names: str) -> list[Column]:
    return [Column(name, INTEGER) for name in names]


def _texts(*names: str) -> list[Column]:
    return [Column(name, TEXT) for name in names]


source = _table(
    "source",
    Column("path", TEXT),
    Column("kind", TEXT),
    *_integers("size"),
    Column("sha256", TEXT),
    *_integers("first", "rows"),  # id of the first packet (KBL: ordinal of a record), number
    Column("warnings", TEXT),  # JSON array
    Column("detail", TEXT),  # JSON object
)

packet = _table(
    "packet", *_integers("source"), *_columns(STORED_PACKET_DTYPE), *_columns(MATCH_COLUMNS)
)
# Records that are in none of the tables `call`, `event` and `loss`: those that belong to no packet,
# and those that describe other records.  Readers find the footprints by ordinal.
RECORD_COLUMNS = RECORD_DTYPE[[
    "ts", "ordinal", "kind", "event", "flags", "context", "cpu", "func", "pid", "skb", "caller",
    "data", "exit_ts", "exit_cpu", "ret",
]]  # fmt: skip
record = _table("record", *_integers("source", "series"), *_columns(RECORD_COLUMNS))
loss = _table("loss", *_integers("source", "ordinal", "ts", "dur", "cpu", "data", "flags"))

series = _table(
    "series",
    *_integers("source", "parent", "tap", "begin_ns", "end_ns", "skb"),
    *_integers("verdict", "rung"),  # as in `match`; verdict 2 = no wire packet
    Column("confidence", FLOAT),
    *_integers("kernel_only"),  # n of row K<n>, -1 = none
    *_integers("kernel_ns", "busy_ns", "unknown_ns", "cpu_ns", "functions"),
    *_integers("ordinal"),  # of the record that represents the series: `identity`, else the first
    # `identity` is the ordinal of the record that shows the packet best, -1 = none does.  The
    # columns after it are from that record.
    *_integers("identity", "ifindex", "netns", "skb_len"),
    *_columns(IDENTITY_DTYPE),
)

# Series that were merged into the skb of another one, see matching/lifetimes/merged_lifetimes.py.
merge = _table("merge", *_integers("series", "target"))

leg = _table(
    "leg",
    *_integers("source", "series", "kind", "begin_ns", "end_ns", "wire_ns", "netns", "ifindex"),
    *_integers("functions", "ethertype", "reader_ns"),
    *_integers("pid", "drop_reason"),  # -1: no thread, not dropped
    # Why the leg's numbers are not shown: 1 = records may have been lost, 2 = a log of points only,
    # 3 = the start of a sent packet in a log of one packet in N is not recorded.
    *_integers("gap"),
    *_integers("busy_ns", "unknown_ns", "cpu_ns"),  # between begin_ns and end_ns
)

# Addresses of a packet, in the leg of the series that had them first; see
# analysis/ingest/leg_addresses.py.
address = _table(
    "address", *_integers("leg", "ip_version", "saddr_hi", "saddr_lo", "daddr_hi", "daddr_lo")
)

# When a leg was not busy; `kind` is an index of NAMES in analysis/words/wait_kinds.py.
wait = _table("wait", *_integers("leg", "kind", "begin_ns", "end_ns"))

call = _table(
    "call",
    *_integers("leg", "ordinal", "func", "caller", "entry_ns", "exit_ns", "dur_ns", "self_ns"),
    *_integers("off_ns", "comp_ns", "comp_err_ns", "irq_ns", "marks", "counter"),
    *_integers("depth", "parent", "cpu", "context", "flags", "pid", "skb", "netns", "ifindex"),
    *_integers("sk", "mark", "carried", "drop_reason"),
)

# Events.  The tables after it hold details of some events.
event = _table(
    "event",
    *_integers("source", "ordinal", "event", "ts", "cpu", "context", "pid", "skb", "data"),
    *_integers("leg", "call"),  # -1: of no packet
)
frame = _table("frame", *_integers("event", "position", "address"))  # stack of a drop or wait
drop = _table("drop", *_integers("event", "hook", "depth"))
change = _table(
    "change",
    *_integers("event"),
    *(c for c in _columns(CHANGE_DTYPE) if c.name != "ordinal"),
)
syscall = _table(
    "syscall",
    *_integers("event"),
    *(c for c in _columns(SYSCALL_DTYPE) if c.name != "ordinal"),
)
event_name = _table("event_name", *_integers("event"), Column("name", TEXT))

match = _table(
    "match",
    *_integers("packet", "leg", "verdict", "rung"),
    Column("confidence", FLOAT),
    *_integers("delta_ns"),  # NO_DELTA: no clock was fitted
)

# For exact packets: where and when the sniffer received them, if known.
moment = _table(
    "moment",
    *_integers("packet", "leg"),  # `leg`: the pass that the sniffer saw
    *_integers("netns", "ifindex", "sends"),  # the device; sends = 1: the device sent the packet
    *_integers("socket"),  # 1: the log shows the call of the packet socket
    *_integers("after_ns", "before_ns"),  # bounds of the time stamp, on the log's clock
)

probe = _table(
    "probe",
    *_integers("source", "func"),
    Column("name", TEXT),
    Column("module", TEXT),
    *_integers("address", "arg", "returns_skb", "event", "error", "hits", "missed"),
)

symbol = _table("symbol", *_integers("source", "address"), Column("name", TEXT))
# Machine code of functions that a KBL contains; `ended` = 0: `data` may contain what follows.
code = _table("code", *_integers("source", "address", "ended"), Column("data", BLOB))
task = _table("task", *_integers("source", "pid"), Column("comm", TEXT))
device = _table("device", *_integers("source", "netns", "ifindex"), Column("name", TEXT))

# META of each KBL; rows with source SESSION hold values of the import as a whole.
SESSION, RULES = 0, "rules"  # the number of the matching rules, see matching/match_rule_numbers.py
# Of a log of points: the id of a KBL of the same host; the number of sections of its records.
SAME_HOST, SECTIONS = "same_host.", "sections."
meta = _table(
    "meta",
    *_integers("source"),
    Column("key", TEXT),
    Column("value", TEXT),
)

clock = _table(
    "clock",
    *_integers("source", "kbl", "interface"),  # interface -1: the capture has only one
    *_integers("begin_ns", "first"),  # a row per segment: captured then, begins with this packet
    *_integers("origin_ns", "offset_ns"),
    Column("drift_ppm", FLOAT),
    *_integers("residual_ns", "pairs", "netns", "ifindex"),
)

# Converts each source's clock to session time, see matching/clock/session_time.py.
timebase = _table(
    "timebase",
    *_integers("source", "interface"),  # interface -1: all
    *_integers("first", "begin_ns", "offset_ns"),  # `first`: the segment begins with this packet
    Column("drift_ppm", FLOAT),
    *_integers("error_ns"),  # -1 = unknown
)

# The clock of `other` minus that of `kbl`, bounded by two-way traffic, see
# matching/one_way_delay.py.
oneway = _table(
    "oneway",
    *_integers("kbl", "other"),
    Column("least_ppm", FLOAT),
    Column("most_ppm", FLOAT),
    *_integers("onward", "back"),  # packets
)
# The bounds at some times of `kbl`; between these times they are straight lines.
oneway_bound = _table("oneway_bound", *_integers("kbl", "other", "at_ns", "low_ns", "high_ns"))

# The second copy of the bulk tables, by column: see column_chunks.py.
chunk = _table(
    "chunk",
    Column("table_name", TEXT),
    Column("column_name", TEXT),
    *_integers("first", "count"),
    Column("dtype", TEXT),
    *_integers("low", "high"),
    Column("data", BLOB),
)


def _names(table: Table, *but: str) -> tuple[str, ...]:
    return tuple(name for name in table.names if name not in but)


CHUNKED: dict[str, tuple[str, ...]] = {
    "packet": _names(packet),
    "series": _names(series, "ordinal"),
    "leg": _names(leg),
    "call": _names(call, "exit_ns"),  # entry_ns + dur_ns where dur_ns >= 0
    "wait": _names(wait),
    "address": _names(address),
    "event": _names(event, "ordinal"),
    "match": _names(match),
    "moment": _names(moment),
}

# Columns of tables that have only chunks, no rows: what would take long to find again in a session
# with many packets (analysis/breakdown/stored_path_classes.py).  Smaller sessions do not have them.
DERIVED: dict[str, tuple[str, ...]] = {
    # The packets whose time in kernel is known, with their classes; `packet` is -n for row K<n>.
    "unit": ("packet", "kernel_ns", "legs", "number", "peers"),
    "unit_leg": ("leg",),  # their legs, 0-based
    "path_class": ("path", "packets"),  # by number
    "peer_class": ("packets", "median"),  # by peers
    "class_rule": ("rule",),  # the rule of which classes these are
}

# Tables, graphs and the diagnosis of the whole session, see session/stored_results.py.  Sessions
# with few packets do not have them.
result = _table("result", *_texts("name", "program"), Column("data", BLOB))


def is_float(table: str, column: str) -> bool:
    """Return whether a column holds floating-point numbers."""
    columns = TABLES[table].columns if table in TABLES else ()
    return any(c.name == column and c.type == FLOAT for c in columns)


# What users add, see annotation_tables.py.  Named by input file, because row ids change with each
# import.
annotation = _table(
    "annotation",
    *_texts("kind", "source", "anchor"),
    *_integers("ordinal"),
    Column("begin_ns", INTEGER, nullable=True),
    Column("end_ns", INTEGER, nullable=True),
    Column("text", TEXT),
)
flag = _table(
    "flag",
    *_texts("kind", "source", "anchor"),
    *_integers("first"),
    Column("bits", BLOB),  # 65,536 flags, from ordinal `first` on
)

INDEXES = (
    Index("leg_series", leg, ("series",)),
    Index("call_leg", call, ("leg",)),
    Index("wait_leg", wait, ("leg",)),
    Index("address_leg", address, ("leg",)),
    Index("event_leg", event, ("leg",)),
    Index("event_kind", event, ("event",)),
    *(Index(f"{t.name}_event", t, ("event",)) for t in (frame, drop, change, syscall, event_name)),
    Index("match_packet", match, ("packet",)),
    Index("match_leg", match, ("leg",)),
    Index("moment_packet", moment, ("packet",)),
    Index("series_kernel_only", series, ("kernel_only",)),
    Index("series_parent", series, ("parent",)),
    Index("series_ordinal", series, ("ordinal",)),
    Index("merge_series", merge, ("series",)),
    Index("merge_target", merge, ("target",)),
    Index("probe_func", probe, ("source", "func")),
    Index("code_address", code, ("source", "address")),
    Index("symbol_address", symbol, ("source", "address")),
    Index("flag_first", flag, ("first",)),
)
