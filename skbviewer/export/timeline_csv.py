# SPDX-License-Identifier: MIT
"""Write as CSV the boxes that a picture of the timeline draws.

Input: a timeline, and the boxes (bins) that a picture of it draws. Output: comment lines (#), a
header, then one row per box, ordered by lane, row and time. Times are ns of session time. For
several calls that were merged into one box, `count` is the number of calls, `function` is empty,
and `layer` is the most frequent layer.
"""

from __future__ import annotations

import csv
from collections.abc import Iterable
from pathlib import Path

import numpy as np
import numpy.typing as npt

from ..analysis.timeline.lanes import Timeline
from ..analysis.timeline.pixel_bins import DROP, LAYER, OPEN
from .atomic_write import written_text
from .csv_cells import comment_lines, csv_cell

COLUMNS: tuple[str, ...] = ("lane", "row", "begin_ns", "end_ns", "dur_ns", "count")
COLUMNS += ("layer", "mixed", "function", "call", "packet", "note")


def write_timeline_csv(
    timeline: Timeline, bins: npt.NDArray[np.void], lines: Iterable[str], out: Path
) -> None:
    """Write the boxes `bins` of `timeline` to `out`; `lines` come first, as comments.

    Raises BadInput if `out` cannot be written.
    """
    with written_text(out) as file:
        file.writelines(comment_lines(lines))
        writer = csv.writer(file)
        writer.writerow(COLUMNS)
        for lane in timeline.lanes:
            inside = (bins["row"] >= lane.first) & (bins["row"] < lane.first + lane.rows)
            for one in bins[inside]:
                cells = _row(timeline, lane.title, lane.first, lane.what, one)
                writer.writerow(map(csv_cell, cells))


def _row(timeline: Timeline, title: str, first: int, what: str, one: np.void) -> tuple[object, ...]:
    begin, end, alone = int(one["begin"]), int(one["end"]), int(one["count"]) == 1
    is_wire, is_call = what == "wire", what == "calls"
    number = int(one["item"]) + 1
    bits = ((DROP, "drop"), (OPEN, "no exit recorded"))
    return (
        title,
        int(one["row"]) - first,
        begin + timeline.t0_ns,
        end + timeline.t0_ns,
        end - begin,
        int(one["count"]),
        timeline.layers[int(one["look"]) & LAYER],
        int(one["mixed"]),
        timeline.names[int(one["name"])] if alone else "",
        number if alone and is_call else "",
        number if alone and is_wire else "",
        ", ".join(text for bit, text in bits if int(one["look"]) & bit),
    )
