# SPDX-License-Identifier: MIT
"""A process that crashes or hangs costs its item only."""

from __future__ import annotations

import os
import time
from collections.abc import Callable

import pytest

from scanner import workers
from scanner.workers import Lost, run


def _make() -> Callable[[int], int]:
    def work(number: int) -> int:
        if number == 7:
            os._exit(3)
        if number == 11:
            time.sleep(60)
        return number * number

    return work


def test_the_rest_is_done(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(workers, "SECONDS", 1.0)
    found = dict(run(range(100), 2, _make))
    assert found[7] == Lost("the parser crashed")
    assert found[11] == Lost("gave up after 1 s")
    others = {n: square for n, square in found.items() if n not in (7, 11)}
    assert others == {n: n * n for n in range(100) if n not in (7, 11)}


def test_nothing_to_do() -> None:
    assert list(run([], 2, _make)) == []
