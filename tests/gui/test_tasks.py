# SPDX-License-Identifier: MIT
"""Long work: progress, cancel, stale results, errors."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator

import pytest
from pytestqt.qtbot import QtBot

from skbviewer.gui.base.background_tasks import Tasks
from skbviewer.gui.base.message_and_progress_bars import WorkBar
from skbviewer.records import BadInput, Cancelled, Progress


@pytest.fixture
def tasks(qtbot: QtBot) -> Iterator[Tasks]:
    tasks = Tasks()
    yield tasks
    tasks.close()


def test_the_result_comes_to_the_windows_thread(tasks: Tasks, qtbot: QtBot) -> None:
    seen: list[tuple[object, threading.Thread]] = []
    worker: list[int] = []

    def work(progress: Progress) -> int:
        worker.append(threading.get_ident())
        return 42

    tasks.start("work", work, lambda result: seen.append((result, threading.current_thread())))
    qtbot.waitUntil(lambda: bool(seen))
    assert seen == [(42, threading.main_thread())]
    assert worker != [threading.get_ident()]


def test_progress_is_true_and_not_more_than_ten_times_a_second(tasks: Tasks, qtbot: QtBot) -> None:
    reports: list[tuple[str, int, int]] = []
    tasks.progress.connect(lambda *values: reports.append(values))

    def work(progress: Progress) -> None:
        for done in range(500):
            progress.report("Reading", done * 10**10, 500 * 10**10)
            time.sleep(0.001)

    started = time.monotonic()
    with qtbot.waitSignal(tasks.ended):
        tasks.start("work", work, lambda result: None)
    assert 1 < len(reports) <= 2 + (time.monotonic() - started) * 10
    assert [done for _, done, _ in reports] == sorted(done for _, done, _ in reports)
    assert reports[-1][2] == 500 * 10**10


def test_cancel_reaches_the_worker(tasks: Tasks, qtbot: QtBot) -> None:
    stopped = threading.Event()
    done: list[object] = []

    def work(progress: Progress) -> None:
        try:
            while True:
                progress.report("Reading", 1, 2)
                time.sleep(0.001)
        except Cancelled:
            stopped.set()
            raise

    tasks.start("work", work, done.append)
    tasks.cancel()
    assert stopped.wait(5)
    assert not tasks.busy
    assert done == []


def test_only_the_latest_result_counts_and_the_other_is_closed(tasks: Tasks, qtbot: QtBot) -> None:
    class Thing:
        closed = False

        def close(self) -> None:
            self.closed = True

    first, second = Thing(), Thing()
    gate = threading.Event()
    results: list[object] = []

    def slow(progress: Progress) -> Thing:
        gate.wait(5)
        return first

    tasks.start("slow", slow, results.append)
    tasks.start("quick", lambda progress: second, results.append)
    gate.set()
    qtbot.waitUntil(lambda: first.closed and bool(results))
    assert results == [second]
    assert not second.closed


def test_bad_input_is_one_line(tasks: Tasks, qtbot: QtBot) -> None:
    def work(progress: Progress) -> None:
        raise BadInput("a.pcap", 24, "cut short")

    with qtbot.waitSignal(tasks.failed) as failed:
        tasks.start("work", work, lambda result: None)
    assert failed.args == ["a.pcap at byte 24: cut short"]


def test_a_stage_without_a_unit_done_is_busy_not_stuck(qtbot: QtBot) -> None:
    bar = WorkBar()
    qtbot.addWidget(bar)
    bar.begin("Opening a.kbl")
    bar.show_progress("following packets", 0, 1)
    assert (bar.bar.minimum(), bar.bar.maximum()) == (0, 0)
    bar.show_progress("storing events", 1, 4)
    assert bar.bar.value() * 4 == bar.bar.maximum()
