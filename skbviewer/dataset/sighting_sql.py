# SPDX-License-Identifier: MIT
"""SQL that reads the sightings of all sessions: captured packets, and lifetimes without a packet.

A lifetime is read only if several recordings have its identity. DuckDB finds these lifetimes by a
hash of their header values. Equal hashes only make candidates; the package `matching` decides
whether they are the same packet.
"""

from __future__ import annotations

# The values that no host changes in an untranslated packet, except those that a lifetime lacks.
IDENTITY = (
    "saddr", "daddr", "protocol", "ip_id", "sport", "dport", "seq", "ack", "tcp_flags"
)  # fmt: skip
DAY_NS = 86_400_000_000_000  # error of a time that no clock fit relates to the log's clock


def _hash(*names: str) -> str:
    return f"(hash({', '.join(names)}) >> 1)::BIGINT"


FLOW = _hash("saddr", "daddr", "protocol", "sport", "dport")
BACK = _hash("daddr", "saddr", "protocol", "dport", "sport")
HOSTS = _hash("least(saddr, daddr)", "greatest(saddr, daddr)")
SHARED = (
    "daddr LIKE 'ff%' OR daddr LIKE '%.255' OR "
    "TRY_CAST(split_part(daddr, '.', 1) AS INTEGER) BETWEEN 224 AND 255"
)

# The clock of a session is that of its first kernel log, else one for each capture.
CLOCKS = """
CREATE TABLE clock_of AS
WITH logs AS (
  SELECT session, min(source) AS log, bool_and(functions IS NOT NULL) AS complete,
    min(begin_ns) AS begin_ns, max(end_ns) AS end_ns
  FROM lifetimes GROUP BY session
), captures AS (SELECT DISTINCT session, host, source FROM packets)
SELECT row_number() OVER (ORDER BY session, source) - 1 AS clock, * FROM (
  SELECT DISTINCT c.session, c.host, coalesce(l.log, c.source) AS source,
    l.log IS NOT NULL AS steady, coalesce(l.complete, false) AS complete, begin_ns, end_ns
  FROM captures c LEFT JOIN logs l USING (session))"""

# Where exact packets passed a device, by the log; `role`: what the host's stack did.
PLACED = """
SELECT m.session, m.packet, any_value(m.series) AS series, max(m.direction) AS direction,
  max(m.after_ns) AS after_ns, min(m.before_ns) AS before_ns, max(m.source) AS log,
  CASE WHEN min(l.kind) <> max(l.kind) THEN NULL ELSE min(l.kind) END AS kind
FROM matches m JOIN legs l ON l.session = m.session AND l.id = m.leg
WHERE m.verdict = 'exact' GROUP BY m.session, m.packet
HAVING count(DISTINCT m.series) = 1 AND count(DISTINCT m.source) = 1"""

# A time of a capture on the clock of its session's log: by the clock fits of both.
FITTED = f"""
SELECT p.session, p.number, coalesce(c.error_ns, {DAY_NS}) AS error_ns,
  p.ts_ns + c.offset_ns + (c.drift_ppm / 1e6 * (p.ts_ns - c.begin_ns))::BIGINT
    - l.offset_ns AS at_ns
FROM packets p JOIN clock_of k ON k.session = p.session AND k.steady
JOIN clocks l ON l.session = p.session AND l.source = k.source AND l.first_packet = 0
ASOF JOIN clocks c ON c.session = p.session AND c.source = p.source
  AND p.number >= c.first_packet"""

PACKETS = f"""
SELECT {_hash(*IDENTITY)} AS identity, k.clock, p.session, p.number,
  CASE WHEN d.log = k.source THEN d.series ELSE -p.number END AS appearance,
  CASE WHEN NOT k.steady THEN p.ts_ns WHEN d.log = k.source AND d.after_ns IS NOT NULL
    THEN d.after_ns ELSE coalesce(f.at_ns - f.error_ns, k.begin_ns) END AS low_ns,
  CASE WHEN NOT k.steady THEN p.ts_ns WHEN d.log = k.source AND d.before_ns IS NOT NULL
    THEN d.before_ns ELSE coalesce(f.at_ns + f.error_ns, k.end_ns) END AS high_ns,
  p.number AS position, coalesce(p.ttl, -1) AS ttl,
  coalesce(max(p.ttl) OVER one, -1) AS ttl_in, coalesce(min(p.ttl) OVER one, -1) AS ttl_out,
  CASE d.direction WHEN 'in' THEN 1 WHEN 'out' THEN 2 ELSE 0 END AS way,
  CASE d.kind WHEN 'tx' THEN 1 WHEN 'rx' THEN 2 WHEN 'forward' THEN 3 ELSE 0 END AS role,
  coalesce(p.payload, -1) AS payload,
  {FLOW} AS flow, {BACK} AS back, {HOSTS} AS hosts, ({SHARED})::BIGINT AS shared
FROM packets p JOIN clock_of k ON k.session = p.session AND (k.steady OR k.source = p.source)
LEFT JOIN placed d ON d.session = p.session AND d.packet = p.number
LEFT JOIN fitted f ON f.session = p.session AND f.number = p.number
WHERE p.saddr IS NOT NULL AND p.ts_ns IS NOT NULL AND {{within}}
WINDOW one AS (PARTITION BY p.session, coalesce(d.series, -p.number))"""

# A clone that no device received or sent, by a log that has such events: a sniffer's, for example.
# A packet of that lifetime was never between hosts.
DEVICE = "event IN ('receive', 'queue', 'start_xmit', 'xmit')"
INSIDE = f"""
SELECT t.session, t.source, t.id AS series FROM lifetimes t
SEMI JOIN (SELECT DISTINCT session, source FROM events WHERE {DEVICE}) e
  ON e.session = t.session AND e.source = t.source
ANTI JOIN (SELECT session, source, series FROM events WHERE {DEVICE}) s
  ON s.session = t.session AND s.source = t.source AND s.series = t.id
WHERE t.verdict = 'kernel-only' AND t.parent IS NOT NULL AND t.functions IS NOT NULL"""

UNCAPTURED = f"""
SELECT {_hash(*IDENTITY)} AS identity, k.clock, t.session, 0 AS number, t.id AS appearance,
  t.begin_ns AS low_ns, t.end_ns AS high_ns, 0 AS position, -1 AS ttl, -1 AS ttl_in,
  -1 AS ttl_out, 0 AS way, 0 AS role,
  -1 AS payload, {FLOW} AS flow, {BACK} AS back, {HOSTS} AS hosts, ({SHARED})::BIGINT AS shared
FROM lifetimes t JOIN clock_of k ON k.session = t.session AND k.source = t.source
LEFT JOIN clocks l ON l.session = t.session AND l.source = t.source
ANTI JOIN ({INSIDE}) i ON i.session = t.session AND i.source = t.source AND i.series = t.id
WHERE t.verdict = 'kernel-only' AND t.saddr IS NOT NULL AND {{alive}}"""

SEEN = f"CREATE TABLE seen AS {PACKETS} UNION ALL {UNCAPTURED}"
READ = """
WITH common AS (
  SELECT identity FROM seen GROUP BY identity HAVING count(DISTINCT clock) > 1
), lived AS (SELECT DISTINCT clock, appearance FROM seen SEMI JOIN common USING (identity))
SELECT s.* FROM seen s SEMI JOIN lived USING (clock, appearance)
ORDER BY s.identity, s.clock, s.number"""
COUNTS = """
SELECT clock, {key} AS key, count(DISTINCT appearance) AS packets FROM seen WHERE number > 0
GROUP BY ALL"""

# Pairs of recordings, by the addresses that packets of both have.
RECORDING_PAIRS = """
WITH held AS (SELECT DISTINCT clock, hosts FROM seen)
SELECT a.clock AS one, b.clock AS other, count(*) AS addresses
FROM held a JOIN held b ON a.hosts = b.hosts AND a.clock < b.clock GROUP BY ALL"""
