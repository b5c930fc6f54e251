# SPDX-License-Identifier: MIT
"""The fixture that boots the guest: once a session, for everyone who asks."""

from __future__ import annotations

import functools

import pytest

from tests.lab.record import TOP, Recording, record


@functools.cache
def recorded() -> Recording:
    """Boot at most once: a fixture imported by several modules is set up for each."""
    return record(TOP / "build/lab")


@pytest.fixture(scope="session")
def lab_recording() -> Recording:
    """A fresh recording from a QEMU guest; a failed guest fails the test with its console."""
    return recorded()
