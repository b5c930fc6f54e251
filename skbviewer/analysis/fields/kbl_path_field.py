# SPDX-License-Identifier: MIT
"""The field kbl.path: the name of the path class (docs/times.md) of a packet or row K<n>."""

from __future__ import annotations

from typing import NamedTuple, cast

import numpy as np

from ...records.types import Int32s, Int64s
from ..breakdown.path_class_rule import path_name
from ..breakdown.stored_path_classes import facts_of
from ..scope import Chosen, Kernel, Scope
from ..timeline.packet_session_times import Clock
from .field_definition import Field, Kind, Values
from .field_source_tables import Data, View


class _Paths(NamedTuple):
    """The rows `ids` (rising), and the path of each row in `path`, as an index of `names`."""

    ids: Int64s
    path: Int32s
    names: tuple[str, ...]


def _path(view: View) -> list[Values]:
    paths: _Paths = view.data.cached("paths", lambda: _paths(view.data))
    ids = view.ids()
    if not len(paths.ids):
        return [Values(np.full(len(ids), -1, np.int32), np.zeros(len(ids), np.bool_), None, ())]
    place = np.minimum(np.searchsorted(paths.ids, ids), len(paths.ids) - 1)
    known = paths.ids[place] == ids
    return [Values(np.where(known, paths.path[place], np.int32(-1)), known, None, paths.names)]


def _paths(data: Data) -> _Paths:
    """Return the paths of all packets and rows K<n> whose time in kernel is known."""
    kernels = {log: Kernel(data.names(log), data.functions(log), ()) for log in data.logs()}
    # Only a chosen range of time would need a clock.
    scope = Scope(data.columns, kernels, cast(Clock, None), Chosen(), fields=data)
    units, classes = facts_of(scope)
    names, path = np.unique(classes.path, return_inverse=True)
    captured = units.captured
    order = np.r_[np.arange(captured, len(units.id))[::-1], np.arange(captured)]
    of_row: Int32s = path.reshape(-1).astype(np.int32)[classes.number[order]]
    ids = np.asarray(units.id[order], np.int64)
    return _Paths(ids, of_row, tuple(map(path_name, names.tolist())))


PATH_FIELDS = (
    Field(
        "kbl.path",
        Kind.STRING,
        "Name of the packet's path class, as in `skbviewer stats paths`",
        _path,
    ),
)
