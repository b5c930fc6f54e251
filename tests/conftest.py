# SPDX-License-Identifier: MIT
"""The marks of tests, and which stay together when several processes run them (``-n auto``)."""

from __future__ import annotations

import gc
from collections import Counter
from functools import cache
from pathlib import Path

import pytest
from xdist.remote import Producer
from xdist.scheduler import LoadScopeScheduling

from skbviewer.gui.base.garbage_collection import collect_due
from tests.marks import marks, slow_files

TOP = Path(__file__).resolve().parents[1]
BOOTING = "tests.lab.fixture"
APART = "tests/lab/test_instrumented.py"  # has a folder of its own, and builds a kernel first
# Groups that take more than a minute, the longest first: if one of them began last, the other
# processes would have to wait for it.
LONGEST = (
    "guests",
    APART,
    "tests/project/test_lint.py",
    "tests/kmod/test_builds.py",
)


@cache
def group(path: str) -> str:
    """Return a test's group: its file, whose tests share fixtures, or that of booting guests."""
    if path == APART:
        return path
    boots = path.startswith("tests/lab/") or BOOTING in (TOP / path).read_text(encoding="utf-8")
    return "guests" if boots else path


class Together(LoadScopeScheduling):  # type: ignore[misc]
    """Gives the tests of a group to one process, in the order of collection."""

    def _split_scope(self, nodeid: str) -> str:
        return group(nodeid.partition("::")[0])


def pytest_xdist_make_scheduler(config: pytest.Config, log: Producer) -> Together:
    """Return how the tests are given out."""
    config.option.loadscopereorder = False
    return Together(config, log)


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Put the groups that take longest first, then slow files, then those with the most tests."""
    groups = [group(item.nodeid.partition("::")[0]) for item in items]
    sizes, slow = Counter(groups), slow_files()
    place = {name: n for n, name in enumerate(LONGEST)}
    of = dict(zip(items, groups, strict=True))

    def key(item: pytest.Item) -> tuple[int, float, int, str]:
        mine = of[item]
        return place.get(mine, len(place)), -slow.get(mine, 0), -sizes[mine], mine

    items.sort(key=key)


def pytest_collection_finish() -> None:
    """Let collections ignore what importing the tests made: all of it lasts until the end."""
    gc.collect()
    gc.freeze()


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """Do not import slow files if `-m` excludes them, because imports take as long as the tests."""
    path = collection_path.relative_to(TOP).as_posix()
    return True if "not slow" in config.getoption("markexpr") and path in slow_files() else None


def pytest_itemcollected(item: pytest.Item) -> None:
    """Give a test the marks of what it uses."""
    for name in sorted(marks(item)):
        item.add_marker(name)


def pytest_sessionstart() -> None:
    """Turn automatic collection off: a thread of a test could destroy an earlier test's widgets."""
    gc.disable()


@pytest.hookimpl(trylast=True)
def pytest_runtest_teardown() -> None:
    """Collect between tests, in the thread that made the widgets."""
    collect_due()
