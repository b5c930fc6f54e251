# SPDX-License-Identifier: MIT
"""All system calls, beside the kernel's own histograms of their tracepoints."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest

from skbviewer.analysis.stats import Chosen, statistic_of
from skbviewer.analysis.stats.machine.syscall_table import SyscallRow
from skbviewer.records import kbl_layout as layout
from skbviewer.session import Session, import_files
from tests.lab.events.conftest import Events
from tests.lab.events.guest_events import Case, ext, stat
from tests.lab.events.histograms import Counts, histogram, signed
from tests.lab.events.test_calls import calls

Event, Ext = layout.KblEvent, layout.KblExtType
INIT = 1
EXIT, EXIT_GROUP, RT_SIGRETURN, CLOCK_NANOSLEEP = 60, 231, 15, 230
EXECVE = 59
FORKS = {56, 57, 58, 435}  # clone, fork, vfork, clone3
NO_NUMBER = -1  # what the kernel's histogram says about a return from a signal handler
NUMBER = (1 << 32) - 1
OLD_GETPID = 20 | layout.KBL_SYSCALL_32BIT
NAMES = {39: "getpid", 110: "getppid", CLOCK_NANOSLEEP: "clock_nanosleep", 269: "faccessat",
         999: "syscall 999", RT_SIGRETURN: "rt_sigreturn",
         OLD_GETPID: "getpid (32-bit)"}  # fmt: skip


def whole(case: Case) -> set[int]:
    """Return the threads whose every call happened while the module recorded."""
    ended = {
        int(r.head["pid"]) for r in case.events(Event.SYSCALL_ENTRY)
        if int(r.head["data"]) in (EXIT, EXIT_GROUP)
    }  # fmt: skip
    return ended - {INIT}


def made(case: Case) -> dict[int, tuple[int, int]]:
    """Return what the program wrote: calls and errors by number."""
    rows = (map(int, line.split()) for line in (case.folder / "calls").read_text().splitlines())
    return {number: (count, errors) for number, count, errors in rows}


@pytest.mark.parametrize("name", ["everycall", "bothcalls", "filteredcalls"])
def test_calls_are_those_that_the_kernel_counted(events: Events, name: str) -> None:
    case = events.case(name)
    threads, counted = whole(case), histogram(case.folder / "enter")
    recorded: Counts = Counter()
    for begin in case.events(Event.SYSCALL_ENTRY):
        recorded[int(begin.head["pid"]), int(begin.head["data"]) & NUMBER] += 1
    assert stat(case, "lost") == stat(case, "nested") == 0
    assert {k: n for k, n in recorded.items() if k[0] in threads} == {
        k: n for k, n in counted.items() if k[0] in threads
    }
    assert len(threads) >= 1
    assert all(n <= counted[k] for k, n in recorded.items())


def ends(case: Case) -> Counts:
    """Return recorded ends by thread, number and result."""
    found: Counts = Counter()
    for thread, pairs in calls(case).items():
        for begin, end in pairs:
            if end is not None:
                number = int(begin.head["data"]) & NUMBER
                found[thread, number, signed(int(end.head["data"]))] += 1
    return found


def numbered(case: Case, threads: set[int]) -> tuple[Counts, Counter[int]]:
    """Return the kernel's counts of ends of these threads, and of those without a number."""
    found: Counts = Counter()
    returned: Counter[int] = Counter()
    for (thread, number, result), hits in histogram(case.folder / "exit").items():
        if thread in threads and number == NO_NUMBER:
            returned[thread] += hits
        elif thread in threads:
            found[thread, number, result] += hits
    return found, returned


@pytest.mark.parametrize("name", ["everycall", "bothcalls", "filteredcalls"])
def test_results_are_those_that_the_kernel_counted(events: Events, name: str) -> None:
    """The first end of a thread is of its parent's call, whose begin is not its own."""
    case = events.case(name)
    threads = whole(case)
    counted, returned = numbered(case, threads)
    recorded = Counter({key: hits for key, hits in ends(case).items() if key[0] in threads})
    restored = {thread: recorded.pop((thread, RT_SIGRETURN, 0), 0) for thread in returned}
    assert restored == returned
    assert sum(returned.values()) == (5 if name == "everycall" else 0)
    assert not recorded - counted
    born = sorted((counted - recorded).elements())
    assert [thread for thread, _, _ in born] == sorted(threads)
    assert all(number in FORKS and result == 0 for _, number, result in born)


def test_a_call_on_a_socket_alone_has_arguments(events: Events) -> None:
    case = events.case("bothcalls")
    lines = (line.split() for line in (case.folder / "calls").read_text().splitlines()[1:])
    written = [int(words[1]) for words in lines]
    thread = int((case.folder / "calls").read_text().split()[1])
    begins = [begin for begin, _ in calls(case)[thread]]
    assert [int(b.head["data"]) for b in begins if ext(b, Ext.SYSCALL) is not None] == written
    assert any(ext(b, Ext.SYSCALL) is None for b in begins)


def test_the_filter_refuses_arguments_only(events: Events) -> None:
    case = events.case("filteredcalls")
    thread = int((case.folder / "calls").read_text().split()[1])
    sendto = [b for b, _ in calls(case)[thread] if b.head["data"] == 44]
    assert len(sendto) == 1
    assert ext(sendto[0], Ext.SYSCALL) is None


def test_a_call_ends_though_its_group_is_off(events: Events) -> None:
    case = events.case("switchedcalls")
    sleeper = int((case.folder / "sleeper").read_text())
    begin, end = calls(case)[sleeper][-1]
    assert int(begin.head["data"]) in (35, CLOCK_NANOSLEEP)
    assert end is not None
    assert int(end.head["ts"]) - int(begin.head["ts"]) >= 900_000_000


def test_a_thread_that_exits_leaves_nothing(events: Events) -> None:
    case = events.case("everycall")
    last = [pairs[-1] for thread, pairs in calls(case).items() if thread in whole(case)]
    assert all(int(b.head["data"]) in (EXIT, EXIT_GROUP) and end is None for b, end in last)


def test_a_thread_that_calls_exec_ends_it_as_its_process(events: Events) -> None:
    """Its process's first thread was killed before, in a call that it did not finish."""
    case = events.case("execcalls")
    process, thread = map(int, (case.folder / "threads").read_text().split())
    both = sorted(case.events(Event.SYSCALL_ENTRY, Event.SYSCALL_EXIT), key=lambda r: r.head["ts"])
    last = [r for r in both if r.head["pid"] == thread][-1]
    assert (last.head["event"], last.head["data"]) == (Event.SYSCALL_ENTRY, EXECVE)
    after = [r for r in both if r.head["pid"] == process and r.head["ts"] > last.head["ts"]]
    upto = [int(r.head["event"]) for r in after].index(Event.SYSCALL_ENTRY)
    assert 1 <= upto <= 2
    assert after[upto - 1].head["data"] == 0


def test_statistics_of_calls(events: Events, tmp_path: Path) -> None:
    """The recorder's file: `stats syscalls` has the program's counts, and the kernel's."""
    folder = events.out / "recordedcalls"
    import_files([folder / "calls.kbl"], tmp_path / "calls.skbv")
    session = Session.open(tmp_path / "calls.skbv")
    table = statistic_of("syscalls", session.stats.scope(Chosen(None)))
    session.close()
    rows = {row.syscall: row for row in map(SyscallRow._make, table.rows)
            if row.process == "everycall"}  # fmt: skip
    expected = made(Case(folder, []))
    found = {number: (rows[name].number, rows[name].errors) for number, name in NAMES.items()}
    assert found == expected
    assert rows["clock_nanosleep"].total_ns >= expected[CLOCK_NANOSLEEP][0] * 2_000_000
    assert not table.warnings
    assert not table.notes
