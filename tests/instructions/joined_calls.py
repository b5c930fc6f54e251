# SPDX-License-Identifier: MIT
"""Join the plugin's marks with the records of the same run: one mark each for entry and exit.

Handlers of returns run for recorded calls only, so their marks and the records come in the same
order, one to one.  A nanosecond of the guest's clock is an instruction, except while its CPU is
idle.  So the time of an entry shows its mark, to some instructions; marks are hundreds apart.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from skbviewer.records import kbl_layout as layout
from tests.instructions.counts import ENTRY, EXIT, Counts, Rows, column
from tests.lab.columns import Columns, Large
from tests.lab.kbl_check import Kind, Type, string

I64 = npt.NDArray[np.int64]

READ_CLOCK = 150  # instructions between a handler's first and its reading of the clock, at most
ALIKE = 4  # two distances between the same two moments differ by no more, as a rule
SAMPLES = 200  # marks whose distances are compared with those of records
BEHIND_CALL = (5, 9)  # the call to ftrace stands at a function's start, or behind an ENDBR


class Joined(NamedTuple):
    """Calls with their marks, in the order of their exits; times in ns, the others instructions."""

    function: list[str]
    entry_ns: I64
    dur_ns: I64
    kernel: I64  # executed between entry and exit: not the probes'
    probe: I64
    user: I64
    idle_ns: I64  # how long the CPU was idle meanwhile

    @property
    def truth_ns(self) -> I64:
        """How long each call would have taken without probes."""
        return self.kernel + self.user + self.idle_ns


def join(counts: Counts, log: Large) -> Joined:
    """Return the calls of a log that ended while `counts` was counted.

    Raises ValueError if marks and records do not correspond one to one.
    """
    records = log.records
    entries, exits = counts.of_kind(ENTRY), counts.of_kind(EXIT)
    ended = np.flatnonzero((records.kind == Kind.CALL) | (records.kind == Kind.EXIT))
    first = first_record(records.end[ended], column(exits, "all"))
    ended = ended[first : first + len(exits)]
    ahead = records.end[ended] - column(exits, "all")  # of the clock, of the instructions
    whole = records.kind[ended] == Kind.CALL
    at = entry_marks(records, ended[whole], ahead[whole], entries, addresses(log))
    return _joined(records, ended[whole], entries[at], exits[whole], names(log))


def first_record(ends: I64, marks: I64) -> int:
    """Return which record belongs to the first mark: where most distances are alike."""
    between, apart = np.diff(ends), np.diff(marks)
    shifts = len(between) - len(apart) + 1
    if shifts < 1:
        raise ValueError(f"{len(marks)} marks of exits, {len(ends)} records")
    score = np.zeros(shifts, np.int64)
    for at in np.linspace(0, len(apart) - 1, SAMPLES).astype(int):
        score += np.abs(between[at : at + shifts] - apart[at]) <= ALIKE
    best = int(np.argmax(score))
    if score[best] < 0.9 * SAMPLES:
        raise ValueError(f"only {score[best]} of {SAMPLES} distances between exits are alike")
    return best


def entry_marks(records: Columns, calls: I64, ahead: I64, entries: Rows, begin: I64) -> I64:
    """Return for each call the row of its entry's mark.

    Calls in which the CPU was idle, or an interrupt came, are left for the end: theirs are those
    marks of their function that no other call has.
    """
    marks, place = column(entries, "all"), column(entries, "place")
    own = begin[records.func[calls]]
    expected = records.ts[calls] - ahead
    at = np.clip(np.searchsorted(marks, expected), 1, len(marks) - 1)
    at -= np.abs(marks[at] - expected) > np.abs(marks[at - 1] - expected)
    near = np.abs(marks[at] - expected) <= READ_CLOCK
    left = np.flatnonzero(~near | ~np.isin(place[at] - own, BEHIND_CALL))
    free = np.setdiff1d(np.arange(len(marks)), np.delete(at, left))
    for call in left[np.argsort(records.ts[calls[left]], kind="stable")]:
        fits = free[np.isin(place[free] - own[call], BEHIND_CALL)]
        at[call] = fits[0] if len(fits) else -1
        free = free[free != at[call]]
    if (at < 0).any() or len(np.unique(at)) != len(at):
        raise ValueError(f"not all of {len(at)} calls have a mark of their own")
    return at


def addresses(log: Large) -> I64:
    """Return the address of each probed function, by its number in the records."""
    table = np.frombuffer(log.kbl.tables[Type.PROBES], layout.KBL_PROBE)
    found = np.zeros(int(table["id"].max()) + 1, np.int64)
    found[table["id"]] = np.ascontiguousarray(table["addr"]).view(np.int64)
    return found


def names(log: Large) -> dict[int, str]:
    """Return the name of each probed function, by its number in the records."""
    table = np.frombuffer(log.kbl.tables[Type.PROBES], layout.KBL_PROBE)
    return {int(row["id"]): string(log.kbl, int(row["name"])) for row in table}


def _joined(
    records: Columns, calls: I64, entries: Rows, exits: Rows, name: dict[int, str]
) -> Joined:
    spent = {part: column(exits, part) - column(entries, part)
             for part in ("all", "kernel", "probe", "user")}  # fmt: skip
    dur = records.end[calls] - records.ts[calls]
    idle = np.where(dur - spent["all"] > READ_CLOCK, dur - spent["all"], 0)
    function = [name[number] for number in records.func[calls].tolist()]
    return Joined(function, records.ts[calls], dur, spent["kernel"], spent["probe"],
                  spent["user"], idle)  # fmt: skip
