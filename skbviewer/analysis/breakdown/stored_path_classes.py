# SPDX-License-Identifier: MIT
"""The packets of a session and their path classes, which an import finds and stores.

Finding packets and classes takes a pass over all calls.  Reading the stored packets and classes
takes a hundredth of the time of such a pass.  Sessions with few legs, and sessions of earlier
versions, do not store packets and classes.  If a session does not store packets and classes, they
are found when they are needed.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from hashlib import blake2b
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from ...records.types import Int64s
from ...store.lazy_column import LazyColumn
from ...store.running_sums import RunningSums
from ...store.whole_columns import Array
from .leg_columns import by_function
from .path_classes import SMALL_CLASS, PathClasses, path_classes
from .timed_packets import Units, units_of

if TYPE_CHECKING:
    from ..scope import Scope

VERSION = 1  # of the rules by which packets and classes are found, besides those in rule_of()
KEPT_BYTES = 256 << 20  # largest facts that are kept for later tables of the session
UNIT, LEG, CLASS, PEERS, RULE = "unit", "unit_leg", "path_class", "peer_class", "class_rule"


class Facts(NamedTuple):
    """The packets of a session, and their path classes."""

    units: Units
    classes: PathClasses


def facts_of(scope: Scope) -> Facts:
    """Return the packets of the session and their path classes, stored or found now.

    Raises Cancelled.
    """
    if _are_stored(scope) and not scope.has_everything:
        return _stored(scope)
    if scope.fields is None or scope.columns.length("leg") * ROW_BYTES > KEPT_BYTES:
        return found_facts(scope)
    what = "breakdown of all skbs" if scope.has_everything else "breakdown"
    kept: Facts = scope.fields.cached(what, lambda: found_facts(scope))
    return kept


ROW_BYTES = sum(np.dtype(one).itemsize for one in ("i4", "i8", "i4", "i4", "i4", "i4"))  # by leg


def found_facts(scope: Scope) -> Facts:
    """Find the packets of the session, and their path classes, in the session's legs and calls.

    Raises Cancelled.
    """
    units = units_of(scope)
    return Facts(units, path_classes(scope, units))


def stored_columns(scope: Scope) -> Mapping[str, Mapping[str, Array]]:
    """Return packets and path classes as columns by table, as schema.DERIVED lists them.

    Raises Cancelled.
    """
    units, classes = found_facts(scope)
    return {
        UNIT: {
            "packet": np.asarray(units.id),
            "kernel_ns": np.asarray(units.kernel_ns),
            "legs": np.diff(units.at),
            "number": np.asarray(classes.number),
            "peers": np.asarray(classes.peers),
        },
        LEG: {"leg": np.asarray(units.legs)},
        CLASS: {"path": classes.path, "packets": classes.sizes},
        PEERS: {"packets": classes.size, "median": classes.median},
        RULE: {"rule": np.array([rule_of(scope)], np.int64)},
    }


def rule_of(scope: Scope) -> int:
    """Return a number that identifies the rule by which paths are found in this session.

    Versions that assign functions to different layers return different numbers.
    """
    _, layer, step = by_function(scope)
    rule = f"{VERSION} {SMALL_CLASS} {layer.tolist()} {step.tolist()}"
    digest = blake2b(rule.encode(), digest_size=8).digest()
    return int.from_bytes(digest, "little", signed=True)


def _are_stored(scope: Scope) -> bool:
    return bool(scope.columns.array(RULE, "rule").tolist() == [rule_of(scope)])


def _stored(scope: Scope) -> Facts:
    columns = scope.columns

    def of_classes(table: str, column: str) -> Int64s:
        return np.array(columns.array(table, column), np.int64)

    of_unit = partial(LazyColumn, columns, UNIT)
    legs = of_unit("legs")
    sums = legs.chunk_sums() if scope.fields is None else scope.fields.cached(
        "legs before each chunk", legs.chunk_sums)  # fmt: skip
    units = Units(
        of_unit("packet"),
        of_unit("kernel_ns"),
        RunningSums(legs, sums),
        LazyColumn(columns, LEG, "leg"),
    )
    classes = PathClasses(
        of_unit("number"),
        of_classes(CLASS, "packets"),
        of_classes(CLASS, "path"),
        of_unit("peers"),
        of_classes(PEERS, "packets"),
        of_classes(PEERS, "median"),
    )
    return Facts(units, classes)
