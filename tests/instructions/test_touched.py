# SPDX-License-Identifier: MIT
"""What calls accessed in a recorded run, compared with sums that share no code with skbviewer."""

from __future__ import annotations

import json
from collections import Counter, defaultdict
from pathlib import Path
from typing import Any, NamedTuple
from xml.etree import ElementTree

import numpy as np
import pytest

import skbviewer
from skbviewer.analysis.words.function_layers import layer_of
from skbviewer.cli import main
from skbviewer.session import Session, import_files
from tests.instructions.counts import ENTRY, EXIT, column
from tests.instructions.joined_calls import BEHIND_CALL, addresses, first_record, names
from tests.instructions.recorded import SERIES, Phase, recorded
from tests.instructions.touched_run import PAGE_FAULT, Touched, archive_of, touched
from tests.lab.kbl_check import Kind

Captured = pytest.CaptureFixture[str]
Lines = dict[int, tuple[int, int]]  # loads and stores by cache line
# Client and server wait in them at the same time, so it is unknown whose accesses they are.
OF_TWO_THREADS = {"tcp_recvmsg", "tcp_recvmsg_locked", "inet_recvmsg"}
MOST_BYTES = 500_000
NOTED = {"6.1": (1044, 1048, 259), "6.12": (1039, 1043, 269)}  # calls, loads and stores, in notes
PAGE = 4096


@pytest.fixture(scope="module", params=SERIES)
def run(request: pytest.FixtureRequest) -> Touched:
    return touched(request.param)


@pytest.fixture(scope="module")
def session(run: Touched, tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("touched") / "s.skbv"
    import_files([run.kbl, run.pcap], out)
    return out


class Call(NamedTuple):
    """A call: its row in the log, and the numbers of the marks of its entry and its return."""

    record: int
    entered: int
    returned: int


@pytest.fixture(scope="module")
def calls(run: Touched) -> dict[str, list[Call]]:
    """Return the calls of each function with their marks.

    Marks of returns come in the order of records.  Those of entries into a function come in the
    order of its calls' times, because each call that began during the count has one.
    """
    records, name = run.log.records, names(run.log)
    ended = np.flatnonzero((records.kind == Kind.CALL) | (records.kind == Kind.EXIT))
    exits = np.flatnonzero(run.counts.marks["kind"] == EXIT).tolist()
    first = first_record(records.end[ended], column(run.counts.of_kind(EXIT), "all"))
    ended = ended[first : first + len(exits)]
    begin, found = addresses(run.log), dict[str, list[Call]]()
    entries = run.counts.marks["kind"] == ENTRY
    place = column(run.counts.marks, "place")
    for number in np.unique(records.func[ended]).tolist():
        mine = [(row, at) for row, at in zip(ended.tolist(), exits, strict=True)
                if records.func[row] == number]  # fmt: skip
        mine.sort(key=lambda pair: int(records.ts[pair[0]]))
        marks = np.flatnonzero(entries & np.isin(place - begin[number], BEHIND_CALL)).tolist()
        found[name[number]] = [
            Call(row, entered, at) for (row, at), entered in zip(mine, marks, strict=True)
        ]
    return found


@pytest.fixture(scope="module")
def wanted(run: Touched, calls: dict[str, list[Call]]) -> dict[tuple[str, int], Lines]:
    """Return the accesses of each call by its function and time of entry, from marks alone."""
    records, begin = run.log.records, addresses(run.log)
    found = dict[tuple[str, int], Lines]()
    for function, mine in calls.items():
        address = int(begin[records.func[mine[0].record]]) + (1 << 64)
        touches = run.counts.touches[run.counts.touches["function"] == np.uint64(address)]
        for call in mine:
            if function in OF_TWO_THREADS and is_shared(call, mine):
                continue
            inner = [one for one in mine if call.entered < one.entered < call.returned]
            loads, stores = Counter[int](), Counter[int]()
            made = touches["marks"].astype(np.int64)
            for row in touches[(made > call.entered) & (made <= call.returned)]:
                of_inner = any(one.entered < row["marks"] <= one.returned for one in inner)
                if not of_inner and row["loads"] + row["stores"]:
                    loads[int(row["line"])] += int(row["loads"])
                    stores[int(row["line"])] += int(row["stores"])
            lines = {line: (loads[line], stores[line]) for line in loads}
            found[function, int(records.ts[call.record])] = lines
    return found


def is_shared(call: Call, others: list[Call]) -> bool:
    """Return whether another call was open meanwhile, of a function that does not call itself."""
    return any(
        one is not call and one.entered < call.returned and call.entered < one.returned
        for one in others
    )


@pytest.fixture(scope="module")
def shown(run: Touched, session: Path) -> dict[tuple[str, int], Lines]:
    """Return the accesses of the calls that paths of packets show."""
    from skbviewer.analysis.executed_instructions import with_steps

    opened = Session.open(session)
    steps = opened.executed_steps(run.counts_path)
    found = dict[tuple[str, int], Lines]()
    paths = [opened.paths.path(packet=n) for n in range(1, opened.packets.count() + 1)]
    alone = opened.packets.kernel_only(1, opened.packets.kernel_only_count())
    paths += [opened.paths.path(series=row.series) for row in alone]
    for plain in paths:
        path = with_steps(plain, steps.of_log, steps.lines)
        for call in (call for leg in path.legs for call in leg.calls):
            if call.lines is not None:
                lines = {line.address: (line.loads, line.stores) for line in call.lines}
                found[call.function, call.entry_ns] = lines
    return found


@pytest.mark.parametrize("series", SERIES)
def test_the_archive_is_small(series: str) -> None:
    assert archive_of(series).stat().st_size < MOST_BYTES


def test_rows_between_marks_add_up_to_the_sums_of_the_whole_count(run: Touched) -> None:
    sums = defaultdict[tuple[int, int], list[int]](lambda: [0, 0])
    for row in run.counts.touches:
        if row["loads"] + row["stores"]:
            sums[int(row["function"]), int(row["line"])][0] += int(row["loads"])
            sums[int(row["function"]), int(row["line"])][1] += int(row["stores"])
    accesses = {
        (int(row["function"]), int(row["line"])): [int(row["loads"]), int(row["stores"])]
        for row in run.counts.accesses
    }
    assert sums == accesses and len(accesses) > 1000


def test_each_call_has_the_accesses_between_its_marks(
    wanted: dict[tuple[str, int], Lines], shown: dict[tuple[str, int], Lines]
) -> None:
    assert len(shown) > 900
    assert shown == {key: lines for key, lines in wanted.items() if key in shown}


def test_all_accesses_but_those_of_two_threads_belong_to_a_call(
    run: Touched, session: Path, wanted: dict[tuple[str, int], Lines]
) -> None:
    lines = Session.open(session).executed_steps(run.counts_path).lines[1]
    total = sum(int(run.counts.accesses[part].sum()) for part in ("loads", "stores"))
    of_calls = int(lines.loads.sum() + lines.stores.sum())
    assert of_calls == sum(sum(both) for one in wanted.values() for both in one.values())
    assert of_calls + lines.left_out == total
    assert 0 < lines.left_out < total / 100


def table(words: list[str], capsys: Captured) -> list[dict[str, Any]]:
    capsys.readouterr()
    assert main(["stats", *words, "--json"]) == 0
    rows: list[dict[str, Any]] = json.loads(capsys.readouterr().out)
    return rows


def sums(keys: list[str], rows: list[dict[str, Any]]) -> dict[tuple[Any, ...], tuple[int, ...]]:
    return {
        tuple(row[key] for key in keys): (row["calls"], row["loads"], row["stores"]) for row in rows
    }


@pytest.mark.parametrize("by", ["function", "layer"])
@pytest.mark.parametrize(("name", "size"), [("pages", PAGE), ("lines", 64)])
def test_tables_by_function_and_layer(
    run: Touched,
    session: Path,
    wanted: dict[tuple[str, int], Lines],
    capsys: Captured,
    by: str,
    name: str,
    size: int,
) -> None:
    words = [str(session), name, "--steps", str(run.counts_path), "--by", by, "--all"]
    rows = table(words, capsys)
    totals = defaultdict[tuple[str, str], list[int]](lambda: [0, 0, 0])
    different = defaultdict[tuple[str, str], set[int]](set)
    with skbviewer.open(str(session)) as recording:
        listed = recording.array("calls", ["function", "entry_ns"]).tolist()
    for function, entry_ns in {*listed} & {*wanted}:
        lines = wanted[function, entry_ns]
        group = function if by == "function" else layer_of(function)
        for unit in {line // size for line in lines}:
            totals[group, f"{unit * size:#x}"][0] += 1
        for line, both in lines.items():
            key = (group, f"{line // size * size:#x}")
            different[key].add(line)
            for at, number in enumerate(both, start=1):
                totals[key][at] += number
    keys = [by, name.removesuffix("s")]
    assert sums(keys, rows) == {key: tuple(values) for key, values in totals.items()}
    if name == "pages":
        found = {(row[by], row["page"]): row["lines"] for row in rows}
        assert found == {key: len(lines) for key, lines in different.items()}
    order = [row["loads"] + row["stores"] for row in rows]
    assert order == sorted(order, reverse=True)


def test_the_table_by_packet_has_what_paths_have(
    run: Touched, session: Path, capsys: Captured
) -> None:
    counts = str(run.counts_path)
    rows = table([str(session), "pages", "--steps", counts, "--by", "packet"], capsys)
    for packet in ("3", "6", "14", "K1"):
        assert main(["path", str(session), "--packet", packet, "--steps", counts, "--json"]) == 0
        legs = json.loads(capsys.readouterr().out)["legs"]
        calls = {call["entry_ns"]: call for leg in legs for call in leg["calls"]}
        pages = defaultdict[str, list[int]](lambda: [0, 0, 0])
        for call in calls.values():
            for page in call["pages"] or ():
                of_page = pages[f"{page['address']:#x}"]
                of_page[0] += 1
                of_page[1] += sum(line["loads"] for line in page["lines"])
                of_page[2] += sum(line["stores"] for line in page["lines"])
        mine = [row for row in rows if row["packet"] == packet]
        wanted = {(packet, page): tuple(values) for page, values in pages.items()}
        assert sums(["packet", "page"], mine) == wanted and (len(mine) > 5 or packet == "K1")
    filtered = table(
        [str(session), "pages", "--steps", counts, "--by", "packet", "--filter", "icmp"], capsys
    )
    assert filtered == [row for row in rows if row["packet"] in ("13", "14", "15", "16")]


def test_xml_has_the_pages_of_json(run: Touched, session: Path, capsys: Captured) -> None:
    words = ["path", str(session), "--packet", "6", "--steps", str(run.counts_path)]
    assert main([*words, "--json"]) == 0
    calls = [call for leg in json.loads(capsys.readouterr().out)["legs"] for call in leg["calls"]]
    assert main([*words, "--xml"]) == 0
    nodes = [*ElementTree.fromstring(capsys.readouterr().out).iter("call")]
    by_entry = {node.get("entry_ns"): node for node in nodes}
    for call in calls:
        node = by_entry[str(call["entry_ns"])]
        found = [
            (int(str(page.get("address")), 16), int(str(page.get("loads"))),
             [(int(str(line.get("address")), 16), line.get("stores")) for line in page])
            for page in node.findall("page")
        ]  # fmt: skip
        assert found == [
            (page["address"], page["loads"],
             [(line["address"], str(line["stores"])) for line in page["lines"]])
            for page in call["pages"] or ()
        ]  # fmt: skip


def test_exceptions_are_those_of_the_file(run: Touched, session: Path, capsys: Captured) -> None:
    rows = table([str(session), "exceptions", "--steps", str(run.counts_path)], capsys)
    wanted = {
        bytes(row["name"]).decode(): [int(row[side]) for side in ("kernel", "probe", "user")]
        for row in run.counts.exceptions
        if row["kernel"] + row["probe"] + row["user"]
    }
    found = {}
    for row in rows:
        kind = {"exception": "asm_exc_", "interrupt": "asm_sysvec_"}[row["kind"]]
        found[kind + row["name"]] = [row["kernel"], row["probes"], row["programs"]]
        assert 0 < row["returned"] <= row["kernel"] + row["probes"] + row["programs"]
        assert 100 < row["mean_steps"] <= row["longest_steps"]
    assert found == wanted and wanted["asm_exc_page_fault"][2] > 100


def test_page_faults_take_as_long_as_a_program_measures(run: Touched) -> None:
    """The clock that the program reads counts instructions, so the sums are equal."""
    faults = run.faults
    returned, by_plugin, longest = faults.counted[PAGE_FAULT]
    assert returned == faults.pages == 400
    assert faults.first - faults.again == by_plugin
    assert 500 * returned < by_plugin and longest < by_plugin / 10


def test_notes_and_refusals(run: Touched, session: Path, capsys: Captured) -> None:
    words = ["stats", str(session), "pages"]
    assert main(words) == 2
    assert "needs --steps COUNTS" in capsys.readouterr().err
    assert main([*words, "--steps", str(run.counts_path)]) == 0
    said = capsys.readouterr().err
    known, calls, lost = NOTED["6.12" if run is touched("6.12") else "6.1"]
    assert f"loads and stores of {known} calls of {calls} are known" in said
    assert f"{lost} loads and stores belong to no call" in said
    for table_of, error in (("functions", "'--by' is only for"), ("exceptions", "has no --by")):
        steps = ["--steps", str(run.counts_path), "--by", "layer"]
        assert main(["stats", str(session), table_of, *steps]) == 2
        assert error in capsys.readouterr().err


def test_counts_of_the_older_plugin_have_neither(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    old = recorded("6.12")
    import_files([old.kbl], out := tmp_path / "old.skbv")
    counts = old.kbl.with_name(f"counts.{Phase.TRAFFIC.value}")
    for name, note in (
        ("pages", "no counts of loads and stores"),
        ("exceptions", "no counts of exceptions"),
    ):
        assert main(["stats", str(out), name, "--steps", str(counts), "--json"]) == 0
        text = capsys.readouterr()
        assert json.loads(text.out) == [] and note in text.err
