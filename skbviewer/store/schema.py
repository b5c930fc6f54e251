# SPDX-License-Identifier: MIT
"""The tables of a session file.

Bulk tables are declared from the numpy dtypes of `records` and from the layouts below: one truth
for each column.  Row ids are dense and start at 1; addresses are signed 64-bit; unknown numbers are
-1 (0 where the dtype is unsigned, NO_DELTA where -1 is a distance) in tables and NULL in the views
`packets`, `matches`, `calls` and `events`.
"""

from __future__ import annotations

import numpy as np

from ..records import (
    CHANGE_DTYPE,
    IDENTITY_DTYPE,
    NO_DELTA,
    RECORD_DTYPE,
    STORED_PACKET_DTYPE,
    SYSCALL_DTYPE,
)
from .declare import BLOB, FLOAT, INTEGER, TEXT, Column, Index, Table

SCHEMA_VERSION = 8
APPLICATION_ID = 0x736B6276  # "skbv"

MATCH_COLUMNS = np.dtype(
    [
        ("verdict", "u1"),  # 0 exact, 1 ambiguous, 2 wire-only
        ("rung", "i1"),
        ("confidence", "<f8"),
        ("kernel_ns", "<i8"),  # -1, as the following: unknown
        ("busy_ns", "<i8"),
        ("unknown_ns", "<i8"),  # what is left of kernel_ns is waiting
        ("cpu_ns", "<i8"),
        ("functions", "<i4"),
    ]
)

TABLES: dict[str, Table] = {}


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
    *_integers("first", "rows"),  # id of the first packet (KBL: ordinal of a record), how many
    Column("warnings", TEXT),  # JSON array
    Column("detail", TEXT),  # JSON object
)

packet = _table(
    "packet", *_integers("source"), *_columns(STORED_PACKET_DTYPE), *_columns(MATCH_COLUMNS)
)
# Those that are in none of the tables `call`, `event` and `loss`: what belongs to no packet, and
# what is told for other records.  Without footprints, which readers find by ordinal.
RECORD_COLUMNS = RECORD_DTYPE[[
    "ts", "ordinal", "kind", "event", "flags", "context", "cpu", "func", "pid", "skb", "caller",
    "data", "exit_ts", "exit_cpu", "ret",
]]  # fmt: skip
record = _table("record", *_integers("source", "series"), *_columns(RECORD_COLUMNS))
loss = _table("loss", *_integers("source", "ordinal", "ts", "dur", "cpu", "data", "flags"))

series = _table(
    "series",
    *_integers("source", "parent", "tap", "begin_ns", "end_ns", "skb"),
    *_integers("verdict", "rung"),  # as in match, 2 = no wire packet
    Column("confidence", FLOAT),
    *_integers("kernel_only"),  # n of row K<n>, -1 = none
    *_integers("kernel_ns", "busy_ns", "unknown_ns", "cpu_ns", "functions"),
    *_integers("ordinal"),  # of the record that stands for the series: `identity`, else the first
    # What that record tells of the packet which shows it best; its ordinal, -1 = none does.
    *_integers("identity", "ifindex", "netns", "skb_len"),
    *_columns(IDENTITY_DTYPE),
)

# Series that went on in the skb of another one, see matching/merges.py.
merge = _table("merge", *_integers("series", "target"))

leg = _table(
    "leg",
    *_integers("source", "series", "kind", "begin_ns", "end_ns", "wire_ns", "netns", "ifindex"),
    *_integers("functions", "ethertype", "reader_ns"),
    *_integers("pid", "drop_reason"),  # -1: of no thread, not dropped
    *_integers("gap"),  # 1: records of it may have been lost, so no number of it is told
    *_integers("busy_ns", "unknown_ns", "cpu_ns"),  # between begin_ns and end_ns
)

# Addresses of its packet, in the leg of the series that had them first; see analysis/addresses.py.
address = _table(
    "address", *_integers("leg", "ip_version", "saddr_hi", "saddr_lo", "daddr_hi", "daddr_lo")
)

# When a leg was not busy: `kind` is an index of NAMES in analysis/waits.py.
wait = _table("wait", *_integers("leg", "kind", "begin_ns", "end_ns"))

call = _table(
    "call",
    *_integers("leg", "ordinal", "func", "caller", "entry_ns", "exit_ns", "dur_ns", "self_ns"),
    *_integers("off_ns", "comp_ns", "comp_err_ns", "irq_ns", "marks", "counter"),
    *_integers("depth", "parent", "cpu", "context", "flags", "pid", "skb", "netns", "ifindex"),
    *_integers("sk", "mark", "carried", "drop_reason"),
)

# What happened beside calls.  The tables that follow it tell more of some events.
event = _table(
    "event",
    *_integers("source", "ordinal", "event", "ts", "cpu", "context", "pid", "skb", "data"),
    *_integers("leg", "call"),  # of no packet: -1
)
frame = _table("frame", *_integers("event", "position", "address"))  # stack of a drop
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

# Exact packets of which it is known where and when the sniffer was given them: a row each.
moment = _table(
    "moment",
    *_integers("packet", "leg"),  # the pass of the skb that the sniffer saw
    *_integers("netns", "ifindex", "sends"),  # the device; 1: on the way out of it
    *_integers("socket"),  # 1: the log shows the call of the packet socket
    *_integers("after_ns", "before_ns"),  # the stamp was made between, by the log's clock
)

probe = _table(
    "probe",
    *_integers("source", "func"),
    Column("name", TEXT),
    Column("module", TEXT),
    *_integers("address", "arg", "returns_skb", "event", "error", "hits", "missed"),
)

symbol = _table("symbol", *_integers("source", "address"), Column("name", TEXT))
task = _table("task", *_integers("source", "pid"), Column("comm", TEXT))
device = _table("device", *_integers("source", "netns", "ifindex"), Column("name", TEXT))

# What a KBL says of itself; under source SESSION what was kept of the import as a whole.
SESSION, RULES = 0, "rules"  # the number of the matching rules, see matching/rules.py
meta = _table(
    "meta",
    *_integers("source"),
    Column("key", TEXT),
    Column("value", TEXT),
)

clock = _table(
    "clock",
    *_integers("source", "kbl", "interface"),  # -1: the capture has one
    *_integers("begin_ns", "first"),  # a row a segment: from that packet on, captured then
    *_integers("origin_ns", "offset_ns"),
    Column("drift_ppm", FLOAT),
    *_integers("residual_ns", "pairs", "netns", "ifindex"),
)

# From each source's clock to session time, see matching/timebase.py.
timebase = _table(
    "timebase",
    *_integers("source", "interface"),  # -1: all that it has
    *_integers("first", "begin_ns", "offset_ns"),  # from that packet on, captured then
    Column("drift_ppm", FLOAT),
    *_integers("error_ns"),  # -1 = unknown
)

# The clock of `other` minus that of `kbl`, bounded by two-way traffic, see matching/oneway.py.
oneway = _table(
    "oneway",
    *_integers("kbl", "other"),
    Column("least_ppm", FLOAT),
    Column("most_ppm", FLOAT),
    *_integers("onward", "back"),  # packets
)
# Straight between these times of `kbl`.
oneway_bound = _table("oneway_bound", *_integers("kbl", "other", "at_ns", "low_ns", "high_ns"))

# The bulk tables once more, by column: see chunks.py.
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
}


def is_float(table: str, column: str) -> bool:
    """Whether a column holds real numbers."""
    return any(c.name == column and c.type == FLOAT for c in TABLES[table].columns)


# What users leave: see annotations.py.  Named by the input file, so that it outlasts row ids.
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
    Column("bits", BLOB),  # 65,536 of them from `first` on
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
    Index("symbol_address", symbol, ("source", "address")),
    Index("flag_first", flag, ("first",)),
)


def _address(side: str) -> str:
    """An address as text, in SQL: IPv6 as eight groups, which text functions of SQLite can make."""
    four = ", ".join(f"{side}_lo >> {shift} & 255" for shift in (24, 16, 8, 0))
    six = ", ".join(
        f"{side}_{part} >> {shift} & 65535" for part in ("hi", "lo") for shift in (48, 32, 16, 0)
    )
    groups = ":".join(["%x"] * 8)
    return f"""CASE ip_version WHEN 4 THEN printf('%d.%d.%d.%d', {four})
            WHEN 6 THEN printf('{groups}', {six}) END AS {side}"""


VIEWS = (
    f"""CREATE VIEW packets AS SELECT id AS number, nullif(ts, -1) AS ts_ns, caplen,
       len, source, {_address("saddr")}, {_address("daddr")},
       nullif(ip_id, -1) AS ip_id, nullif(protocol, -1) AS protocol, nullif(sport, -1) AS sport,
       nullif(dport, -1) AS dport,
       CASE verdict WHEN 0 THEN 'exact' WHEN 1 THEN 'ambiguous' ELSE 'wire-only' END AS verdict,
       nullif(kernel_ns, -1) AS kernel_ns, nullif(functions, -1) AS functions FROM packet""",  # noqa: S608
    f"""CREATE VIEW matches AS SELECT match.packet, leg.series, match.leg,
       CASE match.verdict WHEN 0 THEN 'exact' ELSE 'ambiguous' END AS verdict,
       nullif(match.delta_ns, {NO_DELTA}) AS delta_ns,
       CASE moment.sends WHEN 0 THEN 'in' WHEN 1 THEN 'out' END AS direction, device.name AS device,
       moment.after_ns, moment.before_ns FROM match JOIN leg ON leg.id = match.leg
       LEFT JOIN moment ON moment.packet = match.packet AND moment.leg = match.leg
       LEFT JOIN device ON device.source = leg.source AND device.netns = moment.netns
            AND device.ifindex = moment.ifindex""",  # noqa: S608
    """CREATE VIEW calls AS SELECT call.id, leg.series, call.leg, probe.name AS function,
       printf('0x%x', call.caller) AS caller, call.entry_ns, nullif(call.exit_ns, -1) AS exit_ns,
       nullif(call.dur_ns, -1) AS dur_ns, nullif(call.self_ns, -1) AS self_ns,
       nullif(call.comp_ns, -1) AS comp_ns, nullif(call.counter, -1) AS counter, call.depth,
       call.cpu, call.pid, printf('0x%x', call.skb) AS skb FROM call JOIN leg ON leg.id = call.leg
       LEFT JOIN probe ON probe.source = leg.source AND probe.func = call.func""",
    """CREATE VIEW events AS SELECT event.id, event.ts AS ts_ns, event.cpu, event.pid,
       event.event AS kind, printf('0x%x', event.skb) AS skb, event.data, leg.series,
       nullif(event.leg, -1) AS leg, nullif(event.call, -1) AS call, event_name.name
       FROM event LEFT JOIN leg ON leg.id = event.leg
       LEFT JOIN event_name ON event_name.event = event.id""",
)
