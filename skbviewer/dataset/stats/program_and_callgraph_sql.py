# SPDX-License-Identifier: MIT
"""`dataset stats programs` and `dataset stats callgraph` as SQL, by the rules of analysis/stats."""

from __future__ import annotations

from ...analysis.stats.callgraph_table import CALLED, CALLER, NOBODY, SELF
from .leg_times_sql import texts
from .statistics_sql import CALLS, NAMED, SPREAD, SUMMED

PROGRAMS = f"""
WITH {CALLS},
{NAMED},
counted AS (
  SELECT coalesce(t.comm, 'thread ' || c.pid) AS process, c.host, c.function, c.self_ns AS value,
  count(*) AS n FROM once c ANTI JOIN gaps USING (session, leg)
  LEFT JOIN named t USING (session, source, pid)
  WHERE c.context = 'task' AND c.pid > 0 AND c.function IS NOT NULL GROUP BY ALL),
{SUMMED.format(keys="process, host, function")}
SELECT process, host, function, layer, number AS count, total_ns, {SPREAD}
FROM spread LEFT JOIN function_layers USING (function)
ORDER BY total_ns DESC, process, function, host"""

CALLGRAPH = f"""
WITH {CALLS},
around AS (SELECT session, id AS parent, function AS caller FROM calls),
arcs AS (
  SELECT coalesce(a.caller, '{NOBODY}') AS caller, c.function AS called, count(*) AS number,
  coalesce(sum(c.self_ns), 0) AS self_ns, coalesce(sum(c.dur_ns), 0) AS total_ns
  FROM once c LEFT JOIN around a USING (session, parent)
  WHERE c.function IS NOT NULL GROUP BY ALL),
own AS (
  SELECT called AS function, '{SELF}' AS role, called AS other, sum(number) AS number,
  sum(self_ns) AS self_ns, sum(total_ns) AS total_ns FROM arcs GROUP BY called),
lines AS (
  SELECT called AS function, '{CALLER}' AS role, caller AS other, number, self_ns, total_ns
  FROM arcs UNION ALL FROM own UNION ALL
  SELECT caller, '{CALLED}', called, number, self_ns, total_ns FROM arcs
  WHERE caller IN (SELECT function FROM own))
SELECT l.function, l.role, l.other, l.number::BIGINT AS count, l.self_ns::BIGINT AS self_ns,
  l.total_ns::BIGINT AS total_ns
FROM lines l JOIN own o USING (function)
ORDER BY o.total_ns DESC, l.function,
  list_position([{texts((CALLER, SELF, CALLED))}], l.role), l.total_ns DESC, l.other"""
