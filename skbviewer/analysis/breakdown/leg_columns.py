# SPDX-License-Identifier: MIT
"""The columns of legs, calls and waits that the loops over packets need.

Input: a Scope.  Output: arrays of fixed types, because each compiled loop accepts only one type.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import numpy.typing as npt

from ...matching import TRANSMIT
from ...records.types import LATEST_NS, Bools, Int32s, Int64s
from ..group_starts import Array
from ..row_number_sets import distinct
from ..words.stage_names import QUEUE, STACK
from .calibrated_probe_cost import costs_of
from .path_class_rule import OFF_PATH, step_numbers

if TYPE_CHECKING:
    from ..scope import Scope
    from .timed_packets import Units

NO_LAYER = -1  # layers that say nothing about a packet's path
# Bits for what the first call of a function begins.
BEGINS_TRANSPORT, BEGINS_IP, BEGINS_QUEUE, BEGINS_SENDING, BEGINS_STACK = 1, 2, 4, 8, 16

Int8s = npt.NDArray[np.int8]


class LegColumns(NamedTuple):
    """Columns of legs (0-based); calls and waits of leg i begin at calls_at[i] and waits_at[i].

    `function` is the function of each call, as an index of Scope.function_names.  A function
    without a name has the index len(Scope.function_names).  `begins`, `layer` and `path_step` (see
    path_class_rule) have an element for each function.  `edge` and `step` are costs of one probe in
    ns, for each log.  The cost `edge` lies inside the call, once at its entry and once at its exit;
    the cost `step` lies in its caller, once before and once after the call.
    """

    kind: Int8s
    dropped: Bools
    log: Int32s  # index of the log
    begin: Int64s
    end: Int64s
    calls_at: Int64s
    entry: Int64s
    dur: Int64s
    function: Int32s
    waits_at: Int64s
    wait_kind: Int8s
    wait_begin: Int64s
    wait_end: Int64s
    begins: Int8s
    layer: Int8s
    path_step: Int64s
    edge: Int64s
    step: Int64s


def legs_at(scope: Scope, rows: Int64s) -> LegColumns:
    """Return the columns of the legs `rows` (0-based, rising); leg rows[i] gets the number i.

    Calls and waits of other legs are not read.
    """
    columns, sources, number = scope.columns, sorted(scope.kernels), rows + 1

    def of_leg(name: str) -> Int64s:
        return np.array(columns.near("leg", name, rows), np.int64)

    def of(table: str) -> tuple[Int64s, Int64s]:
        """Return the rows of a table that belong to these legs, and where each leg's rows begin."""
        mine, leg = columns.rows_with(table, "leg", number)
        size = np.bincount(_places(leg, number), minlength=len(rows))
        return mine, np.r_[0, np.cumsum(size)]

    source = of_leg("source")
    log = np.searchsorted(sources, source).astype(np.int32)
    (calls, calls_at), (waits, waits_at) = of("call"), of("wait")
    return LegColumns(
        of_leg("kind").astype(np.int8),
        of_leg("drop_reason") >= 0,
        log,
        of_leg("begin_ns"),
        of_leg("end_ns"),
        calls_at,
        np.array(columns.near("call", "entry_ns", calls), np.int64),
        np.array(columns.near("call", "dur_ns", calls), np.int64),
        _functions(scope, columns.near("call", "func", calls), log, calls_at),
        waits_at,
        np.array(columns.near("wait", "kind", waits), np.int8),
        np.array(columns.near("wait", "begin_ns", waits), np.int64),
        np.array(columns.near("wait", "end_ns", waits), np.int64),
        *by_function(scope),
        *costs_of(scope),
    )


def legs_of_units(scope: Scope, units: Units, rows: Int64s) -> tuple[Int64s, Int64s, LegColumns]:
    """Return the legs of packets, and the columns of these legs.

    `rows` are the packets, as indices of `units`.  Returns (of, at, columns).  The legs of the
    packet rows[i] are of[at[i] : at[i + 1]], indices into the columns.
    """
    legs, at = units.legs_of(rows)
    low, high = int(legs.min(initial=LATEST_NS)), int(legs.max(initial=-1))
    if high - low < 2 * len(legs):  # sorting takes longer than reading some legs in vain
        return legs - low, at, legs_at(scope, np.arange(low, high + 1))
    used = distinct(legs)
    return _places(legs, used), at, legs_at(scope, used)


def _places(leg: Array, numbers: Int64s) -> Int64s:
    """Return the index of each leg in `numbers`, a rising array that contains all these legs."""
    if len(numbers) and int(numbers[-1] - numbers[0]) == len(numbers) - 1:
        return np.asarray(leg.astype(np.int64) - numbers[0], np.int64)
    return np.searchsorted(numbers, leg)


def by_function(scope: Scope) -> tuple[Int8s, Int8s, Int64s]:
    """Return the arrays `begins`, `layer` and `path_step` of LegColumns, by function."""
    names, layers = scope.function_names, scope.layer_names
    begins = np.array([*map(_begins, names, layers), 0], np.int8)
    return begins, _layers(scope), step_numbers(names, layers)


def _functions(scope: Scope, func: Array, log: Int32s, calls_at: Int64s) -> Int32s:
    """Return the function of each call, as an index of Scope.function_names.

    `func` is the number of each call's probe.  `log` is the log of each leg, and `calls_at` says
    where the calls of each leg begin.
    """
    names = scope.function_names
    place = {name: at for at, name in enumerate(names)}
    most = max((max(k.functions, default=0) for k in scope.kernels.values()), default=0)
    table = np.full((max(len(scope.kernels), 1), most + 2), len(names), np.int32)
    for row, source in enumerate(sorted(scope.kernels)):
        for probe, name in scope.kernels[source].functions.items():
            table[row, probe] = place[name]
    if func.min(initial=0) < 0 or func.max(initial=0) > most:
        func = np.where((func >= 0) & (func <= most), func, most + 1)
    if len(table) == 1:
        return np.ascontiguousarray(table[0][func])
    return np.ascontiguousarray(table[np.repeat(log, np.diff(calls_at)), func])


def _begins(name: str, layer: str) -> int:
    bits = BEGINS_QUEUE * (name in QUEUE) | BEGINS_SENDING * (name in TRANSMIT)
    bits |= BEGINS_TRANSPORT * (layer == "transport") | BEGINS_IP * (layer == "ip")
    return bits | BEGINS_STACK * (name in STACK)


def _layers(scope: Scope) -> Int8s:
    known = sorted(set(scope.layer_names) - OFF_PATH)
    found = [known.index(one) if one in known else NO_LAYER for one in scope.layer_names]
    return np.array([*found, NO_LAYER], np.int8)
