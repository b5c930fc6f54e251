# SPDX-License-Identifier: MIT
"""What an import still needs of a KBL after the KBL's records have been processed."""

from __future__ import annotations

from dataclasses import replace
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from ...matching import KernelSide, Spans
from ...records import Scratch
from ..leg_times.packet_time_loops import SpentLegs
from .skb_lifetime_summary import SeriesSummary


class FollowedLog(NamedTuple):
    """A KBL without its records, as the last steps of an import need it."""

    source: int
    kernel_side: KernelSide  # without records
    scratch: Scratch  # of the arrays made from the records
    pid: npt.NDArray[np.int64]  # of each leg
    drop_reason: npt.NDArray[np.int64]
    spent: SpentLegs
    summary: SeriesSummary
    first: dict[str, int]  # number of rows stored before, by table
    spans: Spans  # of its skbs; empty if no log of points is beside it


def moved_to_files(kernel_side: KernelSide, scratch: Scratch) -> KernelSide:
    """Return `kernel_side` with its large arrays stored in files, if `scratch` uses files."""
    prints, series = kernel_side.prints, kernel_side.series
    large = {n: scratch.keep(getattr(prints, n)) for n in ("number", "series", "record")}
    parent = scratch.keep(series.parent)
    return kernel_side._replace(
        prints=prints._replace(**large), series=replace(series, parent=parent)
    )
