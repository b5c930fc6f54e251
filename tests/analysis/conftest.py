# SPDX-License-Identifier: MIT
"""Every story is written twice: in a log of version 2 and in one of version 3."""

from __future__ import annotations

import pytest

from tests.matching.story import Story


@pytest.fixture(autouse=True, params=[2, 3], ids=["v2", "v3"])
def version(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> int:
    """Return the version of the log that a Story is read back from."""
    number: int = request.param
    monkeypatch.setattr(Story, "version", number)
    return number
