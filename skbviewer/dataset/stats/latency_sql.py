# SPDX-License-Identifier: MIT
"""`dataset stats layers` and `dataset stats latency` as SQL, by the rules of analysis/stats."""

from __future__ import annotations

from ...analysis.stats.latency_table import FUNCTION, PACKET, PERMILLES, STAGE
from ...analysis.stats.layer_table import BUSY, LATER, NOWHERE, WAIT
from ...analysis.words.function_layers import layers
from ...analysis.words.wait_kinds import NAMES, UNKNOWN
from .leg_times_sql import ALL_STAGES, LAYER_TIMES, STAGES, USABLE, texts
from .statistics_sql import CALLS, SPREAD, SUMMED

HOST, HOUR, LAYER = "host", "hour", "layer"  # kinds of rows that only datasets have
_UPWARDS = [style.name for style in reversed(layers())]
_LISTED = [*_UPWARDS, *NAMES, *ALL_STAGES]  # in the order of the rows

LAYERS = f"""
WITH {CALLS}, {USABLE}, {STAGES}, {LAYER_TIMES},
parts AS (
  SELECT w.session, w.leg, w.kind AS name, w.begin_ns, w.end_ns,
  greatest(least(u.end_ns, w.end_ns), w.begin_ns) AS until
  FROM waits w JOIN usable u USING (session, leg)),
waited AS (
  SELECT session, leg, name, sum(until - begin_ns)::BIGINT AS inside,
  sum(end_ns - until)::BIGINT AS later FROM parts GROUP BY ALL),
measured AS (
  SELECT '{BUSY}' AS kind, name AS layer, value, calls FROM layer_times UNION ALL
  SELECT CASE WHEN name IN ({texts(NAMES[number] for number in UNKNOWN)}) THEN '{NOWHERE}'
  ELSE '{WAIT}' END, name, inside, 0 FROM waited WHERE inside > 0 UNION ALL
  SELECT '{LATER}', name, later, 0 FROM waited WHERE later > 0 UNION ALL
  SELECT '{STAGE}', name, value, 0 FROM stages),
counted AS (
  SELECT kind, layer, value, count(*) AS n, sum(calls) AS calls FROM measured GROUP BY ALL),
{SUMMED.format(keys="kind, layer")},
rest AS (SELECT kind, layer, sum(calls)::BIGINT AS calls FROM counted GROUP BY ALL)
SELECT kind, layer, calls, number AS count, total_ns, {SPREAD}
FROM rest JOIN spread USING (kind, layer)
ORDER BY kind = '{STAGE}', kind = '{LATER}', list_position([{texts(_LISTED)}], layer)"""

_RANKS = ", ".join(
    f"min(value) FILTER (upto * 1000 >= number * {permille}) AS {name}"
    for permille, name in zip(
        PERMILLES[1:-1], ("p50_ns", "p90_ns", "p99_ns", "p999_ns"), strict=True
    )
)
LATENCY = f"""
WITH {CALLS}, {USABLE}, {STAGES}, {LAYER_TIMES},
in_list AS (
  SELECT p.host, p.ts_ns, p.kernel_ns AS value FROM packets p
  WHERE p.verdict = 'exact' AND {{where}} UNION ALL
  SELECT s.host, NULL, s.kernel_ns FROM lifetimes s
  WHERE s.kernel_only IS NOT NULL AND (s.session, s.id) IN (
    SELECT (l.session, l.series) FROM legs l
    {{join}} JOIN picked k ON k.session = l.session AND k.leg = l.id)),
measured AS (
  SELECT '{PACKET}' AS kind, '{PACKET}' AS name, value FROM in_list UNION ALL
  SELECT '{HOST}', host, value FROM in_list UNION ALL
  SELECT '{HOUR}', strftime(make_timestamp_ns(ts_ns), '%Y-%m-%dT%H:00Z'), value FROM in_list
  WHERE ts_ns IS NOT NULL UNION ALL
  SELECT '{STAGE}', name, value FROM stages UNION ALL
  SELECT '{LAYER}', name, value FROM layer_times UNION ALL
  SELECT '{FUNCTION}', function, dur_ns FROM once WHERE function IS NOT NULL),
counted AS (
  SELECT kind, name, value, count(*) AS n FROM measured WHERE value IS NOT NULL GROUP BY ALL),
summed AS (
  SELECT *, sum(n) OVER (PARTITION BY kind, name ORDER BY value) AS upto,
  sum(n) OVER (PARTITION BY kind, name) AS number FROM counted)
SELECT kind, name, any_value(number)::BIGINT AS count,
  round_even(sum(value * n) / any_value(number), 0)::BIGINT AS mean_ns, min(value) AS min_ns,
  {_RANKS}, max(value) AS max_ns
FROM summed GROUP BY kind, name
ORDER BY list_position([{texts((PACKET, HOST, HOUR, STAGE, LAYER, FUNCTION))}], kind),
  list_position([{texts(_LISTED)}], name), CASE WHEN kind = '{FUNCTION}' THEN -p99_ns END, name"""
