# SPDX-License-Identifier: MIT
"""The fixtures that boot guests: each guest once a session, for everyone who asks."""

from __future__ import annotations

import functools
import os
import re
from pathlib import Path
from typing import NamedTuple

import pytest

from tests.lab import debs, guest
from tests.lab.columns import Large, load
from tests.lab.record import TOP, Built, Recording, prepare, recording, run
from tests.lab.two_hosts import record as record_two_hosts

SERIES = tuple(debs.METAS)
LONG = "LAB_LONG" in os.environ  # make lab-long
# kretprobes arm slowly: 6.1 gets all functions once, in one cycle of the safety guest.
ROUTINE = {"6.1": "all.txt" if LONG else "some.txt", "6.12": "all.txt"}
CYCLED = {
    "6.1": ("cycled=fifty.txt", "whole=all.txt") if LONG else ("cycled=fifty.txt",),
    "6.12": ("cycled=all.txt",) if LONG else ("cycled=fifty.txt",),
}
# Full traffic would take the CPUs from the tests that run beside the guest; to arm and disarm fifty
# functions takes an emulated CPU five seconds.
LESS = () if LONG else ("rate=5M", "each=12")
TIMEOUT_S = 7200 if LONG else 900
# A warning: kretprobes skip a hit that falls into another's handling, and count it, the more the
# busier the machine; an fprobe does not.
MISSED = re.compile(r"records? (is|are) lost \(0 buffers full, \d+ missed hits?, 0 nested hits\)$")


class Lab(NamedTuple):
    """One kernel's guest has run."""

    series: str
    built: Built
    out: Path


@functools.cache
def built(series: str) -> Built:
    """Fetch and build at most once a session."""
    return prepare(TOP / "build/lab" / series, series)


@functools.cache
def scenarios(series: str) -> Lab:
    """Return the guest that records: the handshake, and all scenarios with many functions armed."""
    recorded = ("basic", "drops", "nat", "bulk", "segments", "copies", "merge")
    many = (f"start:{ROUTINE[series]}", *recorded, "stop")
    steps = ("+handshake", "recorder", "code", *many, "exact", "carry", "hostile")
    how = guest.Run(steps, timeout_s=TIMEOUT_S, memory_mb=1024)
    return Lab(series, built(series), run(built(series), how, "scenarios"))


@functools.cache
def evidence(series: str) -> Lab:
    """Return the guest that records packets whose headers are the same."""
    how = guest.Run(("+evidence",), timeout_s=TIMEOUT_S)
    return Lab(series, built(series), run(built(series), how, "evidence"))


@functools.cache
def safety(series: str) -> Lab:
    """Return the guest in which the module is misused."""
    steps = ("cycles", "fuzz")
    words = (*CYCLED[series], *LESS, "cycles=50", f"seconds={60 if LONG else 10}")
    how = guest.Run(steps, words, False, True, timeout_s=TIMEOUT_S, memory_mb=1024)
    return Lab(series, built(series), run(built(series), how, "safety"))


@functools.cache
def inner(series: str) -> Lab:
    """Return the guest that records functions without an skb."""
    how = guest.Run(("inner",), patched=True, timeout_s=TIMEOUT_S)
    return Lab(series, built(series), run(built(series), how, "inner"))


@functools.cache
def two_hosts() -> dict[str, Path]:
    """Return two guests at the ends of a cable; per role the folder of its files."""
    return record_two_hosts(built("6.12"), TIMEOUT_S)


@functools.cache
def large(series: str) -> Large:
    """Return the recording of all scenarios."""
    return load(scenarios(series).out / "lab.kbl")


@pytest.fixture(scope="session")
def lab_recording() -> Recording:
    """Return a fresh recording from a QEMU guest; if the guest fails, show its console."""
    return recording(scenarios("6.1").built, "scenarios")


@pytest.fixture(scope="session", params=SERIES)
def lab(request: pytest.FixtureRequest) -> Lab:
    """Return the recording guest of each kernel."""
    return scenarios(request.param)


@pytest.fixture(scope="session")
def hosts() -> dict[str, Path]:
    """Return what two connected guests recorded: folders by role, "client" and "server"."""
    return two_hosts()


@pytest.fixture(scope="session", params=SERIES)
def mistreated(request: pytest.FixtureRequest) -> Lab:
    """Return the safety guest of each kernel."""
    return safety(request.param)
