# SPDX-License-Identifier: MIT
"""The guest of the events: once a session and kernel."""

from __future__ import annotations

import functools
from pathlib import Path
from typing import NamedTuple

import pytest

from tests.lab import fixture
from tests.lab.events import guest_events
from tests.lab.events.guest_events import Case, Symbols


class Events(NamedTuple):
    """The files of one kernel's guest."""

    series: str
    out: Path
    symbols: Symbols

    def case(self, name: str) -> Case:
        """Load one recording."""
        return guest_events.load(self.out, name)


@functools.cache
def recorded(series: str) -> Events:
    """Boot at most once."""
    out = guest_events.run(fixture.built(series))
    return Events(series, out, guest_events.symbols(out))


@functools.cache
def stormy(series: str) -> Events:
    """Boot the guest that is treated badly at most once."""
    out = guest_events.run(fixture.built(series), ("storm",))
    return Events(series, out, guest_events.symbols(out))


@pytest.fixture(scope="session", params=fixture.SERIES)
def events(request: pytest.FixtureRequest) -> Events:
    """Return the guest of each kernel; one that fails fails the test with its console."""
    return recorded(request.param)


@pytest.fixture(scope="session", params=fixture.SERIES)
def storm(request: pytest.FixtureRequest) -> Events:
    """Return the guest of each kernel that switches all events under traffic."""
    return stormy(request.param)
