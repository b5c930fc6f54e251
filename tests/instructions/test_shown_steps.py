# SPDX-License-Identifier: MIT
"""The executed instructions that skbviewer shows, compared with sums that share no code with it."""

from __future__ import annotations

import csv
import json
from collections import defaultdict
from pathlib import Path
from xml.etree import ElementTree

import numpy as np
import pytest

from skbviewer.analysis.executed_instructions import Steps
from skbviewer.cli import main
from skbviewer.session import Session, import_files
from tests.instructions.counts import EXIT
from tests.instructions.joined_calls import Joined, addresses, join, names
from tests.instructions.page import executed, function_end
from tests.instructions.recorded import SERIES, Phase, Recorded, recorded

COUNTED = (Phase.DATAGRAMS, Phase.TRAFFIC)
MOST_SLEPT = 30  # calls of a phase in which another thread ran
LEAF_FUNCTIONS = 15  # of a phase, at least
KEYS = ("executed", "executed_self", "executed_probes")
SEGMENT = "[PSH, ACK]"


@pytest.fixture(scope="module", params=SERIES)
def run(request: pytest.FixtureRequest) -> Recorded:
    return recorded(request.param)


@pytest.fixture(scope="module")
def session(run: Recorded, tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("steps") / "s.skbv"
    import_files([run.kbl], out)
    return out


def file_of(run: Recorded, phase: Phase) -> Path:
    """Return the plugin's file of a phase."""
    return run.kbl.parent / f"counts.{phase.value}"


@pytest.fixture(scope="module")
def steps(run: Recorded, session: Path) -> dict[Phase, Steps]:
    opened = Session.open(session)
    return {phase: opened.executed_steps(file_of(run, phase)).of_log[1] for phase in COUNTED}


@pytest.mark.parametrize("phase", COUNTED)
def test_all_calls_have_the_instructions_between_their_marks(
    run: Recorded, steps: dict[Phase, Steps], phase: Phase
) -> None:
    wanted, found = join(run.counts[phase], run.log), steps[phase]
    assert sorted(wanted.entry_ns.tolist()) == found.entry_ns.tolist()
    assert (found.left_out, found.marks_left) == (0, 0)
    assert len(found.entry_ns) == len(run.counts[phase].of_kind(EXIT))
    order = np.argsort(wanted.entry_ns)
    slept = found.executed < 0
    assert np.count_nonzero(slept) < MOST_SLEPT
    for values, true in ((found.executed, wanted.kernel), (found.probes, wanted.probe)):
        assert (np.where(slept, true[order], values) == true[order]).all()
    idle = wanted.idle_ns[order]
    assert (idle[~slept] <= 500).all()  # ns; longer pauses are those of the idle task


@pytest.mark.parametrize("phase", COUNTED)
def test_own_instructions_are_those_outside_inner_calls(
    run: Recorded, steps: dict[Phase, Steps], phase: Phase
) -> None:
    """A stack of the calls that are open, whatever thread they are of, says what is inside what."""
    joined, found = join(run.counts[phase], run.log), steps[phase]
    wanted = own_by_stack(joined)
    (own,) = (found.of(joined.entry_ns)[1],)
    known = own >= 0
    assert np.count_nonzero(known) > 0.9 * len(known)
    assert (own[known] == wanted[known]).all()


def own_by_stack(joined: Joined) -> np.ndarray[tuple[int], np.dtype[np.int64]]:
    """Return the instructions of each call less those of the outermost calls inside it."""
    own = joined.kernel.copy()
    leave = joined.entry_ns + joined.dur_ns
    stack = list[int]()
    for at in np.argsort(joined.entry_ns).tolist():
        stack = [row for row in stack if leave[row] > joined.entry_ns[at]]
        around = [row for row in stack if leave[row] > leave[at]]
        if around:
            own[around[-1]] -= joined.kernel[at]
        stack.append(at)
    return own


@pytest.mark.parametrize("phase", COUNTED)
def test_own_instructions_of_functions_are_those_of_their_blocks(
    run: Recorded, steps: dict[Phase, Steps], phase: Phase
) -> None:
    """A function that calls only recorded functions executes its own code, and no other.

    Marks are behind a function's first one or two instructions, which count for its caller.
    """
    joined = join(run.counts[phase], run.log)
    own = defaultdict[str, list[int]](list)
    for name, value in zip(joined.function, steps[phase].of(joined.entry_ns)[1], strict=True):
        own[name].append(int(value))
    begin = addresses(run.log)
    place = {name: int(begin[at]) % (1 << 64) for at, name in names(run.log).items()}
    equal = 0
    for name, values in own.items():
        if min(values) >= 0:
            end = function_end(run, place[name])
            apart = executed(run.counts[phase], place[name], end) - sum(values)
            equal += apart in (0, len(values), 2 * len(values))
    assert equal >= LEAF_FUNCTIONS


def segment(session: Path, steps: Steps) -> str:
    """Return the row of the first data segment that was sent while the emulator counted."""
    packets = Session.open(session).packets
    rows = packets.kernel_only(1, packets.kernel_only_count())
    begin = int(steps.entry_ns[0])
    return next(row.number for row in rows if SEGMENT in row.info and row.ts_ns >= begin)


def test_a_path_has_the_steps_of_its_calls(
    run: Recorded,
    session: Path,
    steps: dict[Phase, Steps],
    capsys: pytest.CaptureFixture[str],
) -> None:
    row = segment(session, steps[Phase.TRAFFIC])
    words = ["path", str(session), "--packet", row, "--steps", str(file_of(run, Phase.TRAFFIC))]
    assert main([*words, "--json"]) == 0
    out, err = capsys.readouterr()
    assert (
        "note: " in err and f"executed instructions of {len(steps[Phase.TRAFFIC].entry_ns)}" in err
    )
    calls = [call for leg in json.loads(out)["legs"] for call in leg["calls"]]
    joined = join(run.counts[Phase.TRAFFIC], run.log)
    true = dict(zip(joined.entry_ns.tolist(), zip(joined.kernel.tolist(), joined.probe.tolist(),
                                                  strict=True), strict=True))  # fmt: skip
    known = [call for call in calls if call["executed"] is not None]
    assert len(known) > 30
    for call in known:
        assert (call["executed"], call["executed_probes"]) == true[call["entry_ns"]]
    assert main([*words, "--xml"]) == 0
    nodes = [*ElementTree.fromstring(capsys.readouterr().out).iter("call")]
    in_json = [[call["entry_ns"], *(call[key] for key in KEYS)] for call in calls]
    in_xml = [[node.get(key) for key in ("entry_ns", *KEYS)] for node in nodes]
    texts = [[None if value is None else str(value) for value in row] for row in in_json]
    assert sorted(in_xml, key=str) == sorted(texts, key=str)
    assert main([*words, "--csv"]) == 0
    lines = [line for line in capsys.readouterr().out.splitlines() if not line.startswith("#")]
    in_csv = [[row["entry_ns"], *(row[key] for key in KEYS)] for row in csv.DictReader(lines)]
    assert in_csv == [
        ["" if cell is None else cell for cell in row] for row in texts[: len(in_csv)]
    ]
    assert len(in_csv) > 30  # the calls of branches are not in CSV
    assert main(words) == 0
    lines = capsys.readouterr().out.splitlines()
    head = next(line for line in lines if line.endswith("function"))
    at = head.index("self us") + len("self us")
    shown = [line[at : head.index("cpu") - 1].split() for line in lines if "<- " in line]
    wanted = [row[1:] for row, call in zip(in_json, calls, strict=True) if call["caller"]]
    cells = [["-" if value is None else f"{value:,}" for value in row] for row in wanted]
    assert shown[: len(cells)] == cells  # then come those of branches


def test_a_path_without_steps_has_no_such_keys(
    session: Path, steps: dict[Phase, Steps], capsys: pytest.CaptureFixture[str]
) -> None:
    words = ["path", str(session), "--packet", segment(session, steps[Phase.TRAFFIC])]
    assert main([*words, "--json"]) == 0 and main([*words, "--xml"]) == 0
    assert main([*words, "--csv"]) == 0 and main(words) == 0
    out = capsys.readouterr().out
    assert "executed" not in out and "steps" not in out


def test_a_count_of_another_run_is_refused(
    run: Recorded, session: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    other = recorded(next(series for series in SERIES if recorded(series) is not run))
    for counts in (file_of(other, Phase.TRAFFIC), file_of(run, Phase.BARE_DATAGRAMS), run.kbl):
        assert main(["path", str(session), "--series", "1", "--steps", str(counts)]) == 2
        said = capsys.readouterr().err
        assert said.count("\n") == 1 and str(counts) in said
