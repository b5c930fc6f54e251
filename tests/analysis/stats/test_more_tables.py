# SPDX-License-Identifier: MIT
"""Call graph, programs, latency, I/O, interrupts and system calls of stories computed by hand."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import pytest

from skbviewer.analysis.graphs.io_graph_series import interval_for
from skbviewer.analysis.stats import STATISTICS, Chosen, Table
from skbviewer.analysis.stats.machine.syscall_table import SOCKETS_ONLY
from skbviewer.records import resource
from skbviewer.records.kbl_layout import KblEvent
from skbviewer.session import Session, import_files
from tests.lab.samples import SAMPLES
from tests.matching.story import Story

from .test_tables import A, opened, udp_story

SECOND = 1_000_000_000


def table(session: Session, name: str, chosen: Chosen | None = None) -> Table:
    return STATISTICS[name].make(session.stats.scope(chosen))


def rows(session: Session, name: str) -> list[dict[str, object]]:
    made = table(session, name)
    return [dict(zip(made.columns, row, strict=True)) for row in made.rows]


def test_the_call_graph_has_callers_and_callees(tmp_path: Path) -> None:
    for session in opened(udp_story(), tmp_path):
        entry = [row for row in rows(session, "callgraph") if row["function"] == "ip_output"]
        assert [(row["role"], row["other"]) for row in entry] == [
            ("called by", "udp_send_skb"),
            ("itself", "ip_output"),
            ("calls", "__dev_queue_xmit"),
        ]
        assert [(row["count"], row["self_ns"], row["total_ns"]) for row in entry] == [
            (1, 400, 1700),
            (1, 400, 1700),
            (1, 690, 1300),
        ]


def test_what_no_recorded_function_called(tmp_path: Path) -> None:
    for session in opened(udp_story(), tmp_path):
        (row,) = [
            row
            for row in rows(session, "callgraph")
            if row["function"] == "udp_send_skb" and row["role"] == "called by"
        ]
        assert row["other"] == "(no recorded function)"


def test_functions_of_a_program_add_up_to_its_time(tmp_path: Path) -> None:
    for session in opened(udp_story(), tmp_path):
        (program,) = rows(session, "processes")
        functions = rows(session, "programs")
        assert {row["process"] for row in functions} == {"thread 7"}
        assert sum(int(str(row["total_ns"])) for row in functions) == program["total_ns"]
        assert sum(int(str(row["count"])) for row in functions) == program["count"]
        assert "ip_rcv" not in {row["function"] for row in functions}  # the softirq's


def test_latency_of_packets_stages_and_functions(tmp_path: Path) -> None:
    for session in opened(udp_story(), tmp_path):
        found = {(row["kind"], row["name"]): row for row in rows(session, "latency")}
        assert found["function", "ip_output"]["p999_ns"] == 1700
        assert found["stage", "send: driver"]["p50_ns"] == 600
        packets = found["all packets", "all packets"]
        # One sent from 900 to 2600, one received from 5000 to 6000.
        assert (packets["count"], packets["min_ns"], packets["max_ns"]) == (2, 1000, 1700)
        assert len([key for key in found if key[0] == "path"]) == 2


def interrupted() -> Story:
    story = udp_story()
    story.thread(1, 9, "reader")
    for begin, end in ((100, 150), (200, 280)):
        story.event(begin, KblEvent.IRQ_ENTRY, 0, 24, context=2)
        story.event(end, KblEvent.IRQ_EXIT, 0, 24 | 1 << 32, context=2)
    story.event(300, KblEvent.SOFTIRQ_ENTRY, 0, 3, cpu=1)
    story.event(310, KblEvent.SOFTIRQ_ENTRY, 0, 1, cpu=0)
    story.event(340, KblEvent.SOFTIRQ_EXIT, 0, 1, cpu=0)
    story.event(400, KblEvent.SOFTIRQ_EXIT, 0, 3, cpu=1)
    story.event(500, KblEvent.SOFTIRQ_ENTRY, 0, 3, cpu=1)  # the log ends before it does
    return story


def test_interrupts_by_cpu(tmp_path: Path) -> None:
    for session in opened(interrupted(), tmp_path):
        found = [
            (row["kind"], row["name"], row["cpu"], row["count"], row["total_ns"], row["max_ns"])
            for row in rows(session, "interrupts")
        ]
        assert found == [
            ("interrupt", "24", 0, 2, 130, 80),
            ("softirq", "NET_RX", 1, 1, 100, 100),
            ("softirq", "TIMER", 0, 1, 30, 30),
        ]


def test_an_interrupt_with_lost_records_does_not_count(tmp_path: Path) -> None:
    story = interrupted()
    story.lost(140, 3, 120)
    for session in opened(story, tmp_path):
        (row,) = [row for row in rows(session, "interrupts") if row["kind"] == "interrupt"]
        assert (row["count"], row["total_ns"]) == (1, 80)


def test_system_calls_of_threads(tmp_path: Path) -> None:
    story = udp_story()
    story.kbl.meta["arch"] = "x86_64"
    story.thread(1, 9, "reader")
    calls = ((9, 45, 100, 400, -11), (9, 45, 500, 700, 20), (7, 44, 150, 350, 10))
    for pid, number, begin, end, result in calls:
        story.event(begin, KblEvent.SYSCALL_ENTRY, 0, number, pid=pid)
        story.event(end, KblEvent.SYSCALL_EXIT, 0, result & (1 << 64) - 1, pid=pid)
    for session in opened(story, tmp_path):
        found = [
            (row["process"], row["syscall"], row["count"], row["errors"], row["total_ns"])
            for row in rows(session, "syscalls")
        ]
        assert found == [
            ("reader", "recvfrom", 2, 1, 500),
            ("thread 7", "sendto", 1, 0, 200),
        ]


@pytest.mark.parametrize(
    ("result", "errors"), [(-1, 1), (-4095, 1), (-4096, 0), (0, 0), (-(1 << 63), 0)]
)
def test_errors_are_the_kernel_s_numbers(result: int, errors: int, tmp_path: Path) -> None:
    """mmap() and rt_sigreturn() may return any number."""
    story = udp_story()
    story.event(100, KblEvent.SYSCALL_ENTRY, 0, 9, pid=7)
    story.event(200, KblEvent.SYSCALL_EXIT, 0, result & (1 << 64) - 1, pid=7)
    for session in opened(story, tmp_path):
        assert [row["errors"] for row in rows(session, "syscalls")] == [errors]


@pytest.mark.parametrize(("groups", "notes"), [("syscall", 1), ("syscall,syscalls", 0)])
def test_a_table_of_calls_on_sockets_says_so(groups: str, notes: int, tmp_path: Path) -> None:
    story = udp_story()
    story.kbl.meta["events"] = groups
    story.event(100, KblEvent.SYSCALL_ENTRY, 0, 44, pid=7)
    story.event(200, KblEvent.SYSCALL_EXIT, 0, 9, pid=7)
    for session in opened(story, tmp_path):
        assert table(session, "syscalls").notes == (SOCKETS_ONLY,) * notes


@pytest.mark.parametrize("name", ["interrupts", "syscalls"])
def test_a_log_without_these_events_says_so(name: str, tmp_path: Path) -> None:
    for session in opened(udp_story(), tmp_path):
        made = table(session, name)
        assert not made.rows
        assert "kblrecord -e all" in made.warnings[0]


def test_expert_information_has_drops_first(tmp_path: Path) -> None:
    story = udp_story()
    story.event(2550, KblEvent.DROP, A, 3, pid=7)
    for session in opened(story, tmp_path):
        first = rows(session, "expert")[0]
        assert (first["severity"], first["rule"], first["packets"]) == ("critical", "drop", 1)
        assert str(first["packet"]).startswith("K")


@pytest.mark.parametrize(
    ("span", "length"), [(0, 1), (99, 1), (101, 2), (30_000_000, 500_000), (10**9, 10**7)]
)
def test_intervals_are_round(span: int, length: int) -> None:
    assert interval_for(span) == length


def test_too_short_intervals_are_refused(tmp_path: Path) -> None:
    made = sample("bulk", tmp_path)
    with pytest.raises(KeyError, match="choose a longer interval"):
        table(made, "io", Chosen(interval_ns=1))
    made.close()


def sample(name: str, folder: Path) -> Session:
    log = resource(f"samples/{name}/{name}.kbl")
    out = folder / f"{name}.skbv"
    import_files([log, log.with_suffix(".pcap")], out)
    return Session.open(out)


@pytest.mark.parametrize("name", [one.name for one in SAMPLES])
@pytest.mark.parametrize("seconds", ["0.001", "0.005"])
@pytest.mark.parametrize("text", ["", "ip.src == 10.9.0.2"])
def test_counts_over_time_are_tshark_s(name: str, seconds: str, text: str, tmp_path: Path) -> None:
    session = sample(name, tmp_path)
    chosen = Chosen(session.packets.select(text), interval_ns=round(float(seconds) * SECOND))
    made = table(session, "io", chosen)
    ours = {row[0] // 1000: (row[1], row[2] // 8) for row in made.rows if row[1]}
    late = rounded_up(session, chosen)
    session.close()
    theirs = tshark_s(resource(f"samples/{name}/{name}.pcap"), seconds, text)
    assert {begin: count for begin, count in ours.items() if begin not in late} == {
        begin: count for begin, count in theirs.items() if begin not in late
    }
    assert len(late) <= 2 and sum(n for n, _ in ours.values()) == sum(n for n, _ in theirs.values())


def rounded_up(session: Session, chosen: Chosen) -> set[int]:
    """Intervals (begin, us) at an end where a packet came that tshark rounds to the next us."""
    length = chosen.interval_ns
    assert length is not None
    ts = session.columns.array("packet", "ts").astype("int64")
    after = ts - ts[0]
    begins = after[after % length >= length - 500] // length * length // 1000
    return {int(begin) + more for begin in begins for more in (0, length // 1000)}


def tshark_s(capture: Path, seconds: str, text: str) -> dict[int, tuple[int, int]]:
    """Frames and bytes of the intervals with frames, by begin in us."""
    words = ["tshark", "-r", str(capture), "-q", "-z", f"io,stat,{seconds},{text}".rstrip(",")]
    out = subprocess.run(words, check=True, capture_output=True, text=True).stdout
    found = {}
    for begin, frames, size in re.findall(r"\| *([\d.]+) <> [\w.]+ *\| *(\d+) *\| *(\d+) *\|", out):
        if int(frames):
            found[round(float(begin) * 1e6)] = (int(frames), int(size))
    return found
