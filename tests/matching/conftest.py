# SPDX-License-Identifier: MIT
"""Every story is written twice: in a log of version 2 and in one of version 3."""

from __future__ import annotations

import pytest

from tests.matching.story_versions import run_for_each_version, set_version


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Run the tests that can read a story for each version."""
    run_for_each_version(metafunc)


@pytest.fixture(autouse=True)
def version(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> int | None:
    """Return the version of the log that a Story is read back from; None if there is none."""
    number: int | None = getattr(request, "param", None)
    set_version(number, monkeypatch)
    return number
