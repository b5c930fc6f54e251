# SPDX-License-Identifier: MIT
"""Measure the CPU seconds of each test file: ``make slow-table`` writes those of the slow ones.

CPU seconds, unlike seconds, do not depend on what else the machine does. They include the programs
that a test runs and waits for. A file is left as soon as it is slow, so its number is a minimum.
Where only some files are measured, the others keep their lines:
``pytest -q -n 0 -p tests.cpu_seconds -m "not lab and not net and not root" FILES``.
"""

from __future__ import annotations

import os
from collections import defaultdict
from collections.abc import Iterator, Mapping

import pytest

from tests.marks import SLOW_CPU_S, SLOW_TABLE, TOP

HEAD = f"""\
# SPDX-License-Identifier: MIT
# Test files that need at least {SLOW_CPU_S:.0f} CPU second(s), and how many were measured before
# the rest of the file was left.  Their tests are marked slow.  Written by `make slow-table`: run it
# twice after compiled loops have changed, because the first run also counts their compilation.
"""


class CpuSeconds:
    """Counts CPU seconds by file, and skips what is left of slow files."""

    def __init__(self) -> None:
        self.by_file: defaultdict[str, float] = defaultdict(float)

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_protocol(self, item: pytest.Item) -> Iterator[None]:
        """Measure one test with its fixtures."""
        path = item.nodeid.partition("::")[0]
        if self.by_file[path] >= SLOW_CPU_S:
            item.add_marker(pytest.mark.skip(reason="its file is slow"))
        before = sum(os.times()[:4])
        result = yield
        self.by_file[path] += sum(os.times()[:4]) - before
        return result

    def pytest_sessionfinish(self) -> None:
        """Write the table."""
        known = SLOW_TABLE.read_text(encoding="utf-8") if SLOW_TABLE.exists() else ""
        SLOW_TABLE.write_text(HEAD + table(known, self.by_file), encoding="utf-8")


def table(known: str, measured: Mapping[str, float]) -> str:
    """Return the lines of slow files: those of `known` with what was `measured` (path: CPU s).

    Files that no longer exist have no line.
    """
    lines = dict(line.split() for line in known.splitlines() if not line.startswith("#"))
    for path, seconds in measured.items():
        lines.pop(path, None)
        if seconds >= SLOW_CPU_S:
            lines[path] = f"{seconds:.0f}"
    return "".join(f"{path} {lines[path]}\n" for path in sorted(lines) if (TOP / path).exists())


def pytest_configure(config: pytest.Config) -> None:
    """Begin to measure: this module is loaded with ``pytest -p tests.cpu_seconds``."""
    config.pluginmanager.register(CpuSeconds())
