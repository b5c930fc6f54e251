# SPDX-License-Identifier: MIT
"""Executed instructions of recorded machine code, as the emulator counted them in a real guest."""

from __future__ import annotations

import json
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest

from skbviewer.cli import main
from skbviewer.session import Session, import_files
from tests.instructions.counts import ENTRY, EXIT, column
from tests.instructions.few_functions import ARCHIVE, Few, few
from tests.instructions.joined_calls import BEHIND_CALL, addresses, names
from tests.instructions.page import executed
from tests.lab.kbl_check import Kind

FUNCTIONS = ("ip_rcv", "icmp_rcv", "ip_local_deliver", "ip_output", "__dev_queue_xmit")
MOST_BYTES = 100_000
CLOCK = 8  # ns between two returns by which the clock may differ from the instructions


@pytest.fixture(scope="module")
def run() -> Few:
    return few()


@pytest.fixture(scope="module")
def session(run: Few, tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("few") / "s.skbv"
    import_files([run.kbl], out)
    return out


def test_the_archive_is_small() -> None:
    assert ARCHIVE.stat().st_size < MOST_BYTES


@pytest.mark.parametrize("function", FUNCTIONS)
def test_instructions_were_executed_as_often_as_their_blocks(
    run: Few, session: Path, function: str, capsys: pytest.CaptureFixture[str]
) -> None:
    words = ["disassemble", str(session), function, "--counts", str(run.counts_path), "--json"]
    assert main(words) == 0
    shown = json.loads(capsys.readouterr().out)
    counts = [one["executed"] for one in shown["instructions"]]
    assert sum(counts) == executed(run.counts, shown["begin"], shown["end"]) > 0
    begin = addresses(run.log)
    (place,) = (int(begin[number]) for number, name in names(run.log).items() if name == function)
    entries = column(run.counts.of_kind(ENTRY), "place") - place
    assert counts[0] == np.isin(entries, BEHIND_CALL).sum()  # a mark behind each first instruction


def test_all_calls_have_steps(run: Few, session: Path) -> None:
    """Returns are followed one by one, by the time of the clock; each entry is the one before."""
    steps = Session.open(session).executed_steps(run.counts_path).of_log[1]
    assert (steps.left_out, len(steps.entry_ns)) == (0, 805)
    records = run.log.records
    calls = np.flatnonzero(np.isin(records.ts, steps.entry_ns) & (records.kind == Kind.CALL))
    calls = calls[np.argsort(records.end[calls])]
    exits, entries = run.counts.of_kind(EXIT), run.counts.of_kind(ENTRY)
    ends, done = records.end[calls].tolist(), column(exits, "all")
    (at,) = [found for first in range(len(done)) if (found := followed(ends, done, first))]
    begin = addresses(run.log)[records.func[calls]]
    place, instructions = column(entries, "place"), column(entries, "all")
    spent = dict[int, int]()
    for row, call in enumerate(calls.tolist()):
        lasted = ends[row] - int(records.ts[call])
        own = np.flatnonzero(np.isin(place - begin[row], BEHIND_CALL))
        entry = own[np.abs(done[at[row]] - lasted - instructions[own]).argmin()]
        kernel = column(exits, "kernel")[at[row]] - column(entries, "kernel")[entry]
        spent[int(records.ts[call])] = int(kernel)
    assert [spent[entry] for entry in steps.entry_ns.tolist()] == steps.executed.tolist()


def followed(ends: list[int], done: np.ndarray, first: int) -> list[int]:
    """Return the marks of all returns, if `first` is that of the first one; [] if it is not."""
    at = [first]
    for before, end in pairwise(ends):
        wanted = done[at[-1]] + end - before
        nearest = int(np.abs(done - wanted).argmin())
        if abs(int(done[nearest]) - int(wanted)) > CLOCK:
            return []
        at.append(nearest)
    return at
