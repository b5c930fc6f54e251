# SPDX-License-Identifier: MIT
"""Stages of legs, and the time of each layer in each leg, as SQL by the rules of analysis/stats.

The SQL relations of this module need the relations of CALLS (statistics_sql.py). The tables do not
say whether a function got its packet as an argument or returned the packet. A reader's call that
began before the reader had the packet, and ended afterwards, counts as a call that returned the
packet.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from ...analysis.words.stage_names import FORWARDING, QUEUE, RECEIVING, SENDING, STACK
from ...matching import TRANSMIT


def texts(names: Iterable[str]) -> str:
    """Return `names` as a list of SQL strings, separated by commas."""
    return ", ".join(f"'{name}'" for name in names)


# Chosen legs that lack no records.  Lifetimes without a packet have a number in the list, except
# the copies that sniffers are given.
USABLE = """
usable AS (
  SELECT l.session, l.id AS leg, l.kind, l.begin_ns, l.end_ns, l.reader_ns,
  s.verdict = 'kernel-only' AND s.kernel_only IS NULL AS is_sniffed
  FROM legs l {join} JOIN picked k ON k.session = l.session AND k.leg = l.id
  JOIN lifetimes s ON s.session = l.session AND s.id = l.series
  WHERE l.functions IS NOT NULL)"""


def _sections(kind: str, names: Sequence[str], begins: Sequence[str], more: str = "") -> str:
    """Return a SELECT of the stages of all legs of a kind; a stage that a leg lacks is NULL.

    Each stage lasts until the start of the leg's next stage, or until the leg ends. `more` is the
    duration of a further stage, which is the last one of `names`.
    """
    columns, following = [], "end_ns"
    for number in reversed(range(len(begins))):
        begin, end = begins[number], f"until{number}"
        columns += [
            f"CASE WHEN {begin} <= {following} THEN {following} - {begin} END AS stage{number}",
            f"CASE WHEN {begin} <= {following} THEN {begin} ELSE {following} END AS {end}",
        ]
        following = end
    values = [f"stage{number}" for number in range(len(begins))] + ([more] if more else [])
    return (
        f"SELECT session, leg, unnest([{texts(names)}]) AS name, "
        f"unnest([{', '.join(values)}]) AS value FROM (SELECT *, {', '.join(columns)} "
        f"FROM usable LEFT JOIN firsts USING (session, leg) "
        f"WHERE kind = '{kind}' AND NOT is_sniffed)"
    )


_READING = "CASE WHEN reader_ns >= 0 THEN greatest(coalesce(last_exit, -1) - reader_ns, 0) END"
_SECTIONS = " UNION ALL ".join(
    [
        _sections("tx", SENDING, ("begin_ns", "transport", "ip", "queued", "sent")),
        _sections("forward", FORWARDING, ("begin_ns", "received", "queued", "sent")),
        _sections("rx", RECEIVING, ("begin_ns", "received"), _READING),
    ]
)


def _first(name: str, condition: str) -> str:
    """Return a column: the first time at which a leg entered a function that meets `condition`."""
    return f"min(c.entry_ns) FILTER (c.entry_ns >= u.begin_ns AND {condition}) AS {name}"


STAGES = f"""
firsts AS (
  SELECT c.session, c.leg, {_first("transport", "f.layer = 'transport'")},
  {_first("ip", "f.layer = 'ip'")},
  {_first("received", f"c.function IN ({texts(sorted(STACK))})")},
  {_first("queued", f"c.function IN ({texts(sorted(QUEUE))})")},
  {_first("sent", f"c.function IN ({texts(sorted(TRANSMIT))})")},
  max(c.entry_ns + greatest(coalesce(c.dur_ns, 0), 0)) AS last_exit
  FROM rows_of_legs c JOIN usable u USING (session, leg)
  LEFT JOIN function_layers f ON f.function = c.function GROUP BY c.session, c.leg),
stages AS (SELECT * FROM ({_SECTIONS}) WHERE value IS NOT NULL)"""
ALL_STAGES = (*SENDING, *FORWARDING, *RECEIVING)

# The self time of each layer in each leg, without what calls did before their packet was there.
LAYER_TIMES = """
timed AS (
  SELECT c.session, c.id, c.parent, c.entry_ns, c.self_ns,
  c.entry_ns + greatest(coalesce(c.dur_ns, 0), 0) AS exit_at,
  CASE WHEN u.kind = 'rx' AND c.context = 'task' AND exit_at >= u.reader_ns
  THEN greatest(u.begin_ns, u.reader_ns) ELSE u.begin_ns END AS since,
  greatest(exit_at - greatest(c.entry_ns, since), 0) AS late
  FROM rows_of_legs c JOIN usable u USING (session, leg)),
early AS (SELECT * FROM timed WHERE entry_ns < since AND self_ns IS NOT NULL),
inside AS (
  SELECT t.session, t.parent AS id, sum(t.late) AS late FROM timed t
  SEMI JOIN early e ON e.session = t.session AND e.id = t.parent GROUP BY ALL),
shortened AS (
  SELECT e.session, e.id, least(e.self_ns, greatest(e.late - coalesce(i.late, 0), 0)) AS own_ns
  FROM early e LEFT JOIN inside i USING (session, id)),
layer_times AS (
  SELECT c.session, c.leg, f.layer AS name, count(*) AS calls,
  sum(coalesce(s.own_ns, c.self_ns))::BIGINT AS value
  FROM once c SEMI JOIN usable USING (session, leg)
  JOIN function_layers f ON f.function = c.function
  LEFT JOIN shortened s ON s.session = c.session AND s.id = c.id
  WHERE c.self_ns IS NOT NULL GROUP BY c.session, c.leg, f.layer)"""
