# SPDX-License-Identifier: MIT
"""The marks of tests, and which stay together when several processes run them (``-n auto``)."""

from __future__ import annotations

from functools import cache
from pathlib import Path

import pytest
from xdist.remote import Producer
from xdist.scheduler import LoadScopeScheduling

from tests.marks import marks, slow_files

TOP = Path(__file__).resolve().parents[1]
BOOTING = "tests.lab.fixture"
APART = "tests/lab/test_instrumented.py"  # has a folder of its own, and builds a kernel first


@cache
def group(path: str) -> str:
    """Return a test's group: its file, whose tests share fixtures, or that of booting guests."""
    if path == APART:
        return path
    boots = path.startswith("tests/lab/") or BOOTING in (TOP / path).read_text(encoding="utf-8")
    return "guests" if boots else path


class Together(LoadScopeScheduling):  # type: ignore[misc]
    """Gives the tests of a group to one process, the largest group first."""

    def _split_scope(self, nodeid: str) -> str:
        return group(nodeid.partition("::")[0])


def pytest_xdist_make_scheduler(config: pytest.Config, log: Producer) -> Together:
    """Return how the tests are given out."""
    return Together(config, log)


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """Do not import slow files if `-m` excludes them, because imports take as long as the tests."""
    path = collection_path.relative_to(TOP).as_posix()
    return True if "not slow" in config.getoption("markexpr") and path in slow_files() else None


def pytest_itemcollected(item: pytest.Item) -> None:
    """Mark a test by what it uses."""
    for name in sorted(marks(item)):
        item.add_marker(name)
