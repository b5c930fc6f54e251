# SPDX-License-Identifier: MIT
"""Statistics over all sessions of a dataset as SQL, by the rules of analysis/stats.

Without a filter, all legs of network packets are counted; with a filter, only legs that exactly
match a chosen packet. A call counts once, even if it handled several packets. Percentiles are by
nearest rank, from counts of equal values: sorting the values of each group would need too much
memory.
"""

from __future__ import annotations

from collections.abc import Iterable

from ...analysis.breakdown.lost_packets import (
    CHECKSUM_WRONG,
    DAMAGED,
    FREED,
    FULL,
    RECEIVER,
    REPEATED,
    UNNAMED,
    UNWANTED,
)
from ...records.kbl_layout import KblEvent
from ...records.protocols import TCP, UDP
from ..duckdb_connection import literal
from ..filter_fields import IP, IPV6


def _listed(names: Iterable[str]) -> str:
    return f"({', '.join(map(literal, sorted(names)))})"


# Which legs count, as a join of their rows with {legs}: all but those of other skbs, which are few,
# or those of chosen packets.
NETWORK = "s.ethertype IS NOT NULL OR s.saddr IS NOT NULL"
_LEGS = """
  SELECT l.session, l.id AS leg, l.functions FROM legs l
  JOIN lifetimes s ON s.session = l.session AND s.id = l.series WHERE """
OTHERS = f"picked AS ({_LEGS} NOT ({NETWORK}))"
OF_PACKETS = f"""
picked AS ({_LEGS} ({NETWORK}) AND (l.session, l.id) IN (
  SELECT (m.session, m.leg) FROM matches m JOIN packets p
  ON p.session = m.session AND p.number = m.packet WHERE m.verdict = 'exact' AND {{where}}))"""
ALL_BUT, ONLY = "ANTI", "SEMI"

# Legs without calls need not be joined; `functions` is the number of a leg's calls, or unknown.
# Rows for further packets of a call are left out, and all but one of a socket's call.  DuckDB reads
# a fraction of the files for each condition of `shared`, but all rows for both joined by OR.
CALLS = """
{legs},
with_calls AS (SELECT session, leg FROM picked WHERE functions IS DISTINCT FROM 0),
rows_of_legs AS NOT MATERIALIZED (
  SELECT c.* FROM calls c {join} JOIN with_calls k ON k.session = c.session AND k.leg = c.leg),
shared AS (
  SELECT session, entry_ns FROM calls WHERE carried IS NOT NULL
  UNION SELECT session, entry_ns FROM calls WHERE skb = '0x0'),
repeated AS (
  SELECT * FROM (
    SELECT c.*, row_number() OVER (
      PARTITION BY c.session, source, entry_ns, function, cpu, pid
      ORDER BY carried NULLS FIRST, id) AS nth
    FROM (SELECT * FROM calls SEMI JOIN shared USING (session, entry_ns)) c
    {join} JOIN with_calls k ON k.session = c.session AND k.leg = c.leg)
  WHERE nth > 1),
once AS NOT MATERIALIZED (SELECT * FROM rows_of_legs ANTI JOIN repeated USING (session, id))"""

# How often each value occurs, and how many values there are up to it.
SUMMED = """
summed AS (
  SELECT *, sum(n) OVER (PARTITION BY {keys} ORDER BY value) AS upto,
  sum(n) OVER (PARTITION BY {keys}) AS number FROM counted WHERE value IS NOT NULL),
spread AS (
  SELECT {keys}, any_value(number)::BIGINT AS number, sum(value * n)::BIGINT AS total_ns,
  round_even(sum(value * n) / any_value(number), 0)::BIGINT AS mean_ns,
  min(value) FILTER (upto * 100 >= number * 50) AS p50_ns,
  min(value) FILTER (upto * 100 >= number * 95) AS p95_ns,
  min(value) FILTER (upto * 100 >= number * 99) AS p99_ns,
  max(value) AS max_ns FROM summed GROUP BY ALL)"""
SPREAD = ", ".join(
    f"coalesce({name}, 0) AS {name}" for name in ("mean_ns", "p50_ns", "p95_ns", "p99_ns", "max_ns")
)

# Legs that may lack records, and the names of threads.
NAMED = """
gaps AS (SELECT session, id AS leg FROM legs WHERE functions IS NULL),
named AS (
  SELECT session, source, pid, last(comm) AS comm FROM processes GROUP BY session, source, pid)"""

_OF_CALLS = """
  SELECT function, dur_ns AS value, {sign}count(*) AS calls, {sign}sum(self_ns) AS self_ns,
  {sign}sum(comp_ns) AS comp_ns, {sign}count(comp_ns) AS measured,
  {sign}sum(comp_err_ns) FILTER (comp_ns IS NOT NULL) AS comp_err_ns FROM {rows} GROUP BY ALL"""
# To subtract the few rows that are left out takes two thirds of the time of leaving them out first.
FUNCTIONS = f"""
WITH {CALLS},
signed AS ({_OF_CALLS.format(sign="", rows="rows_of_legs")}
  UNION ALL {_OF_CALLS.format(sign="-", rows="repeated")}),
counted AS (
  SELECT function, value, sum(calls) AS n, sum(self_ns) AS self_ns, sum(comp_ns) AS comp_ns,
  sum(measured) AS measured, sum(comp_err_ns) AS comp_err_ns
  FROM signed GROUP BY function, value HAVING sum(calls) > 0),
{SUMMED.format(keys="function")},
rest AS (
  SELECT function, sum(n)::BIGINT AS calls, coalesce(sum(self_ns), 0)::BIGINT AS self_ns,
  round_even(sum(comp_ns) / nullif(sum(measured), 0), 0)::BIGINT AS comp_mean_ns,
  round_even(sum(comp_err_ns) / nullif(sum(measured), 0), 0)::BIGINT AS comp_err_ns
  FROM counted WHERE function IS NOT NULL GROUP BY function)
SELECT r.function, f.layer, r.calls AS count, r.calls - coalesce(s.number, 0) AS open,
  coalesce(s.total_ns, 0) AS total_ns, r.self_ns, {SPREAD}, r.comp_mean_ns, r.comp_err_ns
FROM rest r LEFT JOIN spread s USING (function)
LEFT JOIN function_layers f ON f.function = r.function ORDER BY total_ns DESC, r.function"""

PROCESSES = f"""
WITH {CALLS},
{NAMED},
counted AS (
  SELECT coalesce(t.comm, 'thread ' || c.pid) AS process, c.host, c.self_ns AS value,
  count(*) AS n FROM once c ANTI JOIN gaps USING (session, leg)
  LEFT JOIN named t USING (session, source, pid)
  WHERE c.context = 'task' AND c.pid > 0 AND c.self_ns IS NOT NULL GROUP BY ALL),
{SUMMED.format(keys="process, host")},
legs_of AS (
  SELECT coalesce(t.comm, 'thread ' || c.pid) AS process, c.host,
  count(DISTINCT (c.session, c.leg)) AS legs
  FROM rows_of_legs c ANTI JOIN gaps USING (session, leg)
  LEFT JOIN named t USING (session, source, pid)
  WHERE c.context = 'task' AND c.pid > 0 AND c.self_ns IS NOT NULL GROUP BY ALL)
SELECT process, host, legs, coalesce(number, 0) AS count, coalesce(total_ns, 0) AS total_ns,
  {SPREAD}
FROM legs_of LEFT JOIN spread USING (process, host) ORDER BY total_ns DESC, process, host"""

# Which drops lost their packet, by the rules of analysis/breakdown/lost_packets.py.  The tables do
# not say when records were lost.  So `lost` is unknown if that matters, and a leg of the log may
# lack records.  Nor do they say whether TCP had the data of a dropped segment already.
_LOST = f"""
gaps AS (SELECT DISTINCT session, source FROM legs WHERE functions IS NULL),
queued AS (
  SELECT session, series, min(ts_ns) AS ts_ns FROM events
  WHERE kind = {int(KblEvent.SOCK_ENQUEUE)} AND leg IS NOT NULL GROUP BY ALL),
received AS (
  SELECT session, series, min(ts_ns) AS ts_ns FROM (
    FROM queued UNION ALL
    SELECT q.session, s.parent, q.ts_ns FROM queued q JOIN lifetimes s
    ON s.session = q.session AND s.id = q.series WHERE s.parent IS NOT NULL)
  GROUP BY ALL)"""
_DROPPING = "split_part(coalesce(d.place, ''), '+', 1)"
_OF_TCP = f"""starts_with({_DROPPING}, '{RECEIVER}')
  AND d.reason NOT IN {_listed(FULL)} AND NOT contains(d.reason, '{DAMAGED}')"""
_IS_LOST = f"""CASE WHEN {_DROPPING} IN {_listed(FREED)} THEN false
  WHEN {_DROPPING} NOT IN {_listed(CHECKSUM_WRONG)} AND r.ts_ns <= d.ts_ns THEN false
  WHEN {_DROPPING} IN {_listed(UNWANTED)} OR d.reason IN {_listed(REPEATED)} THEN false
  WHEN {_OF_TCP} THEN NULL
  WHEN d.reason = '{UNNAMED}' AND g.session IS NOT NULL THEN NULL
  ELSE true END"""

DROPS = f"""
WITH {{legs}},{_LOST},
wire AS (
  SELECT session, leg, min(packet) AS packet FROM matches WHERE verdict = 'exact' GROUP BY ALL),
seen AS (
  SELECT d.reason, coalesce(d.place, '') AS function,
  d.session, w.packet AS number,
  CASE WHEN w.packet IS NOT NULL THEN d.session::VARCHAR || ':' || w.packet END AS packet,
  {_IS_LOST} AS lost
  FROM drops d {{join}} JOIN picked k ON k.session = d.session AND k.leg = d.leg
  LEFT JOIN wire w ON w.session = d.session AND w.leg = d.leg
  LEFT JOIN received r ON r.session = d.session AND r.series = d.series
  LEFT JOIN gaps g ON g.session = d.session AND g.source = d.source WHERE d.leg IS NOT NULL)
SELECT s.reason, s.function, coalesce(any_value(f.layer), '') AS layer, count(*) AS count,
  CASE WHEN count(lost) = count(*) THEN count(*) FILTER (lost) END AS lost,
  count(DISTINCT s.packet) AS wire,
  arg_min(s.packet, (s.session, s.number)) FILTER (s.number IS NOT NULL) AS packet
FROM seen s LEFT JOIN function_layers f ON f.function = split_part(s.function, '+', 1)
GROUP BY s.reason, s.function ORDER BY 4 DESC, 1, 2"""

# The kinds of conversations, which packets they have, and whether their ends have ports.
_PORTS = "p.protocol = {} AND p.sport IS NOT NULL"
KINDS = (
    ("IPv4", IP, False),
    ("IPv6", IPV6, False),
    ("TCP", _PORTS.format(TCP), True),
    ("UDP", _PORTS.format(UDP), True),
)
_WAY = """
  SELECT '{kind}' AS kind, p.saddr, {sport} AS sport, p.daddr, {dport} AS dport,
  count(*) AS packets, sum(p.len) AS bytes, min(p.ts_ns) AS begin_ns, max(p.ts_ns) AS end_ns,
  sum(p.kernel_ns) AS kernel_ns,
  bool_or(p.verdict = 'exact' AND p.kernel_ns IS NULL) AS lost
  FROM packets p WHERE {condition} AND {{where}} GROUP BY ALL"""
WAYS = "ways AS (" + " UNION ALL ".join(
    _WAY.format(
        kind=kind,
        condition=condition,
        sport="p.sport" if ports else "NULL::INTEGER",
        dport="p.dport" if ports else "NULL::INTEGER",
    )
    for kind, condition, ports in KINDS
) + ")"  # fmt: skip
CONVERSATIONS = f"""
WITH {WAYS},
numbered AS (
  SELECT *, ip_number(saddr) AS s, ip_number(daddr) AS d FROM ways),
ends AS (
  SELECT *, s > d OR (s = d AND coalesce(sport > dport, false)) AS swapped FROM numbered),
sides AS (
  SELECT kind, CASE WHEN swapped THEN daddr ELSE saddr END AS address_a,
  CASE WHEN swapped THEN dport ELSE sport END AS port_a,
  CASE WHEN swapped THEN saddr ELSE daddr END AS address_b,
  CASE WHEN swapped THEN sport ELSE dport END AS port_b,
  swapped, packets, bytes, begin_ns, end_ns, kernel_ns, lost FROM ends)
SELECT kind, address_a, port_a, address_b, port_b, sum(packets)::BIGINT AS packets,
  sum(bytes)::BIGINT AS bytes,
  coalesce(sum(packets) FILTER (NOT swapped), 0)::BIGINT AS packets_ab,
  coalesce(sum(bytes) FILTER (NOT swapped), 0)::BIGINT AS bytes_ab,
  coalesce(sum(packets) FILTER (swapped), 0)::BIGINT AS packets_ba,
  coalesce(sum(bytes) FILTER (swapped), 0)::BIGINT AS bytes_ba,
  min(begin_ns) AS begin_ns, max(end_ns) - min(begin_ns) AS dur_ns,
  CASE WHEN NOT bool_or(lost) THEN sum(kernel_ns)::BIGINT END AS kernel_ns
FROM sides GROUP BY ALL ORDER BY kind, bytes DESC, 2, 3, 4, 5"""
ENDPOINTS = f"""
WITH {WAYS},
sides AS (
  SELECT kind, saddr AS address, sport AS port, packets, bytes, true AS tx FROM ways
  UNION ALL SELECT kind, daddr, dport, packets, bytes, false FROM ways)
SELECT kind, address, port, sum(packets)::BIGINT AS packets, sum(bytes)::BIGINT AS bytes,
  coalesce(sum(packets) FILTER (tx), 0)::BIGINT AS tx_packets,
  coalesce(sum(bytes) FILTER (tx), 0)::BIGINT AS tx_bytes,
  coalesce(sum(packets) FILTER (NOT tx), 0)::BIGINT AS rx_packets,
  coalesce(sum(bytes) FILTER (NOT tx), 0)::BIGINT AS rx_bytes
FROM sides GROUP BY ALL ORDER BY kind, bytes DESC, address, port"""
