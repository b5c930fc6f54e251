# SPDX-License-Identifier: MIT
"""Select the rows of a session by a display filter, and sort them."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache

import numpy as np

from ...analysis.breakdown.lost_packets import legs_of_lost_packets
from ...analysis.display_filter import Plan, evaluate, parse
from ...analysis.fields.all_fields import FIELDS
from ...analysis.fields.field_definition import Kind
from ...analysis.fields.field_source_tables import DROP, PACKET, ROW, SERIES, Array, Data, View
from ...analysis.fields.field_text import field_values
from ...analysis.fields.sort_keys import keys_of
from ...analysis.scope import Chosen
from ...records import BadInput, Progress
from ...records.annotation import COMMENT
from ...records.types import Bools, Int64s
from ...store import Columns
from ..annotation_places import RowIds
from ..kernel.statistics_scope import scope_of
from ..notes import Notes
from ..open_session_file import OpenedFile

Order = tuple[str, bool]  # field, descending


def data_of(opened: OpenedFile, notes: Notes) -> Data:
    """Return the columns, names and notes of an open session, as display filters need them."""

    def comments() -> dict[int, str]:
        found: dict[int, str] = {}
        for note in notes.all(COMMENT):
            row = note.packet or _life(opened.columns, note.series)
            if row:
                found[row] = f"{found[row]}\n{note.text}" if row in found else note.text
        return found

    def lost_legs() -> Bools:
        with opened.database() as db:
            given = db, opened.columns, opened.sources(), opened.timebase(), Chosen()
            return legs_of_lost_packets(scope_of(*given))

    reads = opened.columns, opened.database, opened.sources, opened.fitted
    return Data(*reads, notes.flags, comments, lost_legs)


def _life(columns: Columns, series: int | None) -> int:
    """Return -n for a series that is listed as row K<n>; 0 for a series that is not listed."""
    if series is None:
        return 0
    return min(0, -int(columns.take(SERIES, "kernel_only", np.array([series - 1]))[0]))


def select(
    data: Data,
    text: str = "",
    order: Order | None = None,
    kernel_only: bool = False,
    hidden: RowIds | None = None,
    progress: Progress | None = None,
) -> RowIds | None:
    """Return the rows that match the display filter `text`; None means all packets, by number.

    A row is n for packet n, and -n for row K<n>; rows K<n> are included only if `kernel_only`.
    `order` is (field, descending): the field by which rows are sorted.  Without `order`, rows are
    sorted by number; if there are rows K<n> among them, by time.  Rows that are in `hidden` are
    left out.  Raises KeyError if `order` has an unknown field; raises FilterError, BadInput and
    Cancelled.
    """
    plan = parse(text)
    if plan is None and order is None and not kernel_only and (hidden is None or not len(hidden)):
        return None
    if order is not None and order[0] not in FIELDS:
        raise KeyError(f"no field {order[0]}")
    views = [data.packets()] + ([data.kernel_only()] if kernel_only else [])
    passed = [_passed(plan, data, view, hidden, progress) for view in views]
    parts = [_ids(view, rows) for view, rows in zip(views, passed, strict=True)]
    ids = parts[0] if len(parts) == 1 else np.concatenate(parts)
    if order is None:
        order = ("frame.time_epoch", False) if kernel_only and len(passed[1]) else None
    if order is None:
        return ids
    keys, known = keys_of(FIELDS[order[0]], [(v, r) for v, r in zip(views, passed, strict=True)])
    return ids[_sorted(keys, known, order[1])]


def _passed(
    plan: Plan | None, data: Data, view: View, hidden: RowIds | None, progress: Progress | None
) -> Int64s:
    """Return the positions in `view` of the rows that match the filter `plan`."""
    mask = np.ones(view.size, np.bool_) if plan is None else evaluate(plan, data, view, progress)
    if hidden is not None and len(hidden):
        mask = mask.copy()
        mine = hidden[hidden > 0] if view.rows is None else -hidden[hidden < 0]
        mask[mine[mine <= view.size] - 1] = False
    return np.flatnonzero(mask)


def _ids(view: View, rows: Int64s) -> RowIds:
    return rows + 1 if view.rows is None else -(rows + 1)


def _sorted(keys: Array, known: Bools, descending: bool) -> Int64s:
    """Return the positions that sort rows by `keys`; equal keys keep their order.

    Rows whose key is not `known` come last.
    """
    there, rest = np.flatnonzero(known), np.flatnonzero(~known)
    if descending:  # equal rows keep their order
        rank = len(there) - 1 - np.argsort(keys[there][::-1], kind="stable")[::-1]
    else:
        rank = np.argsort(keys[there], kind="stable")
    return np.concatenate([there[rank], rest])


@lru_cache(maxsize=256)
def _plan(text: str) -> Plan | None:
    """Return the plan of the filter `text`.

    Plans are cached, because colours use the same few filters for every page.
    """
    return parse(text)


def first_fit(data: Data, texts: Sequence[str], ids: RowIds) -> list[int]:
    """Return for each row of `ids` the index of the first filter in `texts` that the row matches.

    -1 means that no filter matches the row.  A filter that needs the bytes of a file that has moved
    matches no row.  Raises FilterError.
    """
    found = np.full(len(ids), -1, np.int64)
    plans = [_plan(text) for text in texts]
    for mine in (np.flatnonzero(ids > 0), np.flatnonzero(ids < 0)):
        if not len(mine):  # finding rows K<n> among millions of lifetimes takes a quarter second
            continue
        rows = ids[mine]
        view = View(data, PACKET, rows - 1) if rows[0] > 0 else _lives(data, -rows)
        for number, plan in reversed(list(enumerate(plans))):
            if plan is None:
                continue
            try:
                found[mine[evaluate(plan, data, view)]] = number
            except BadInput:  # reported when the user applies such a filter
                continue
    return found.tolist()


def _lives(data: Data, numbers: RowIds) -> View:
    """Return a view of rows K<n>; `numbers` are these n."""
    return View(data, SERIES, data.kernel_only_rows()[numbers - 1])


def values_of(data: Data, name: str, ids: Sequence[int]) -> list[str]:
    """Return the values of the field `name` in the rows `ids` (n, or -n for K<n>), as texts.

    Raises KeyError for an unknown field.
    """
    if name not in FIELDS:
        raise KeyError(f"no field {name}")
    return field_values(FIELDS[name], data, ids)


def words_of(data: Data, name: str) -> list[str]:
    """Return the texts that the field `name` can have in this session, sorted.

    Returns [] for an unknown field, and for a field without texts.
    """
    field = FIELDS.get(name)
    if field is None or field.kind is not Kind.STRING:
        return []
    views = [data.packets()] if field.table == ROW else [data.table(field.table)]
    if field.table != DROP:  # their texts do not depend on the rows
        views = [View(data, view.table, np.zeros(0, np.int64)) for view in views]
    found = {text for view in views for values in field.make(view) for text in values.texts or ()}
    return sorted(found - {""})
