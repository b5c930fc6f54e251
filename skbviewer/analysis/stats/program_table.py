# SPDX-License-Identifier: MIT
"""The time that programs spent in each function: `skbviewer stats programs`.

The rows of a program add up to its row in `skbviewer stats processes`.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ..scope import Scope
from ..timeline.row_stacking import ranks
from .duration_percentiles import spreads
from .process_table import own_calls


class ProgramRow(NamedTuple):
    """The calls of one function that one program made on one host.

    Times are the self times of these calls, in ns.
    """

    process: str
    host: int  # source id of the KBL
    function: str
    layer: str
    number: int  # calls
    total_ns: int
    mean_ns: int
    p50_ns: int
    p95_ns: int
    p99_ns: int
    max_ns: int


def program_rows(scope: Scope) -> list[ProgramRow]:
    """Return a row for each program and function, the longest total first.  Raises Cancelled."""
    mine = own_calls(scope)
    once = scope.once[mine.calls]
    calls, group = mine.calls[once], mine.program[once]
    function = scope.functions_of(
        scope.narrow("func")[calls].astype(np.int64), scope.sources_of(mine.leg[once])
    )
    known = function >= 0
    calls, size = calls[known], len(scope.function_names)
    place = group[known] * size + function[known]
    used, which = ranks(place)
    own = scope.narrow("self_ns")[calls].astype(np.int64)
    found = spreads(which, own, len(used))
    rows = []
    for spread, at in zip(found, used.tolist(), strict=True):
        (host, name), f = mine.names[at // size], at % size
        rows.append(ProgramRow(name, host, scope.function_names[f], scope.layer_names[f], *spread))
    return sorted(rows, key=lambda row: (-row.total_ns, row.process, row.function))
