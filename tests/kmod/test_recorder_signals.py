# SPDX-License-Identifier: MIT
"""kblrecord and signals: a hangup under nohup, and a question for statistics."""

from __future__ import annotations

import signal
import time
from pathlib import Path

import pytest

from tests.kmod.recorder import Fake, calls


@pytest.fixture
def fake(tmp_path: Path) -> Fake:
    return Fake(tmp_path / "kbl")


@pytest.mark.parametrize("ignored", [True, False])
def test_a_hangup_stops_it_unless_it_is_ignored(fake: Fake, tmp_path: Path, ignored: bool) -> None:
    handler = signal.SIG_IGN if ignored else signal.SIG_DFL  # nohup ignores it
    before = signal.signal(signal.SIGHUP, handler)
    try:
        run = fake.start("-w", tmp_path / "a.kbl").ready()
    finally:
        signal.signal(signal.SIGHUP, before)
    run.process.send_signal(signal.SIGHUP)
    if ignored:
        time.sleep(0.5)
        assert run.process.poll() is None
        run.process.send_signal(signal.SIGINT)
    assert run.end().returncode == 0


def test_usr1_prints_statistics_and_goes_on(fake: Fake, tmp_path: Path) -> None:
    fake.add(0, calls(7))
    run = fake.start("-w", tmp_path / "a.kbl").ready()
    time.sleep(0.3)
    run.process.send_signal(signal.SIGUSR1)
    run.until("7 records")
    assert run.process.poll() is None
    fake.add(0, calls(2, 7_000_000_000))
    assert "9 records" in run.end(signal.SIGINT).stderr
