# SPDX-License-Identifier: MIT
"""A packet's path with the executed instructions of its calls."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from ...records import Leg, PacketPath, PathCall
from .steps import Steps


def with_steps(path: PacketPath, steps: Mapping[int, Steps]) -> PacketPath:
    """Return the path with the numbers of each call that has some; `steps` are those of each log.

    The keys of `steps` are ids of sources.
    """
    legs, branches = (
        tuple(_leg(leg, steps.get(leg.source)) for leg in part)
        for part in (path.legs, path.branches)
    )
    return path._replace(legs=legs, branches=branches)


def _leg(leg: Leg, steps: Steps | None) -> Leg:
    if steps is None:
        return leg
    columns = steps.of(np.array([call.entry_ns for call in leg.calls], np.int64))
    numbers = zip(*(column.tolist() for column in columns), strict=True)
    return leg._replace(calls=tuple(map(_call, leg.calls, numbers)))


def _call(call: PathCall, numbers: tuple[int, int, int]) -> PathCall:
    executed, own, probes = (None if number < 0 else number for number in numbers)
    return call._replace(executed=executed, executed_self=own, executed_probes=probes)
