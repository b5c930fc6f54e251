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


def test_an_ignored_hangup_stays_ignored(fake: Fake, tmp_path: Path) -> None:
    before = signal.signal(signal.SIGHUP, signal.SIG_IGN)  # as nohup does
    try:
        run = fake.start("-w", tmp_path / "a.kbl").ready()
    finally:
        signal.signal(signal.SIGHUP, before)
    run.process.send_signal(signal.SIGHUP)
    time.sleep(0.5)
    assert run.process.poll() is None
    assert run.end(signal.SIGINT).returncode == 0
    run = fake.start("-w", tmp_path / "b.kbl").ready()
    assert run.end(signal.SIGHUP).returncode == 0


def test_usr1_prints_statistics_and_goes_on(fake: Fake, tmp_path: Path) -> None:
    fake.add(0, calls(7))
    run = fake.start("-w", tmp_path / "a.kbl").ready()
    time.sleep(0.3)
    run.process.send_signal(signal.SIGUSR1)
    run.until("7 records")
    assert run.process.poll() is None
    fake.add(0, calls(2, 7_000_000_000))
    assert "9 records" in run.end(signal.SIGINT).stderr
