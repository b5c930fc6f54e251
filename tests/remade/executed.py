# SPDX-License-Identifier: MIT
"""TURUNG: the instructions that each function executed.

The recordings are those of docs/instructions.md: the emulator counted, the module recorded.
"""

from __future__ import annotations

import functools
import tempfile
from pathlib import Path
from typing import NamedTuple

from skbviewer.records import PathCall
from skbviewer.session import Session, import_files
from tests.instructions.joined_calls import Joined, join
from tests.instructions.recorded import Phase, recorded

from .markdown import table

SERIES = "6.12"
SEGMENT = "[PSH, ACK]"  # the first data segment of the traffic is shown


class Executed(NamedTuple):
    """What the emulator counted between a call's entry and its exit; instructions."""

    kernel: int
    probe: int
    idle_ns: int


@functools.cache
def _session() -> Session:
    folder = Path(tempfile.mkdtemp(prefix="remade-executed-"))
    import_files([recorded(SERIES).kbl], folder / "executed.skbv")
    return Session.open(folder / "executed.skbv")


def counted_calls() -> dict[tuple[str, int], Executed]:
    """Return the counts of each call of the traffic, by function and time of entry (ns)."""
    run = recorded(SERIES)
    return by_call(join(run.counts[Phase.TRAFFIC], run.log))


def by_call(joined: Joined) -> dict[tuple[str, int], Executed]:
    """Return the counts of joined calls by function and time of entry (ns)."""
    keys = zip(joined.function, joined.entry_ns.tolist(), strict=True)
    counts = zip(*(part.tolist() for part in (joined.kernel, joined.probe, joined.idle_ns)),
                 strict=True)  # fmt: skip
    return {key: Executed(*one) for key, one in zip(keys, counts, strict=True)}


def segment_calls() -> list[PathCall]:
    """Return the calls of the first data segment that was sent while the emulator counted."""
    begin = min(at for _, at in counted_calls())
    packets = _session().packets
    rows = packets.kernel_only(1, packets.kernel_only_count())
    first = next(row for row in rows if SEGMENT in row.info and (row.ts_ns or 0) >= begin)
    legs = _session().paths.path(series=first.series).legs
    return [call for leg in legs for call in leg.calls]


def transitions() -> str:
    """Return the calls of a data segment with recorded, compensated and executed instructions."""
    counted = counted_calls()
    head = ("depth", "function", "recorded (ns)", "without probes (ns)", "stated error (ns)",
            "executed, kernel", "executed, probes", "within the error")  # fmt: skip
    return table(head, [_line(call, counted) for call in segment_calls()], left=2)


def _line(call: PathCall, counted: dict[tuple[str, int], Executed]) -> tuple[str, ...]:
    """Return a call's row; instructions are missing if the call ended after the count."""
    steps = counted.get((call.function, call.entry_ns))
    numbers = [call.dur_ns, call.comp_ns, call.comp_err_ns,
               *((steps.kernel, steps.probe) if steps else (None, None))]  # fmt: skip
    cells = ["" if number is None else f"{number:,}" for number in numbers]
    return str(call.depth), f"`{call.function}`", *cells, _judged(call, steps)


def _judged(call: PathCall, steps: Executed | None) -> str:
    """Return whether the stated error holds what was executed, and the idle time."""
    if steps is None or call.comp_ns is None or call.comp_err_ns is None:
        return ""
    wrong_by = abs(call.comp_ns - steps.kernel - steps.idle_ns)
    return "yes" if wrong_by <= call.comp_err_ns else f"no, by {wrong_by - call.comp_err_ns:,}"
