# SPDX-License-Identifier: MIT
"""How two recordings were made differently, so that their numbers may not be comparable."""

from __future__ import annotations

from typing import NamedTuple

from ...records import counted

SHOWN = 8  # functions that a sentence lists


class RecordingConditions(NamedTuple):
    """How a recording was made.

    If a recording has several kernel logs, a field has the texts of all of them.
    """

    releases: tuple[str, ...]
    kernels: tuple[str, ...]  # uname -v
    hosts: tuple[str, ...]
    architectures: tuple[str, ...]
    probed: frozenset[str]  # functions with a probe that could be set
    mechanisms: tuple[str, ...]  # how probes work, and what one costs in ns
    counters: tuple[str, ...]
    filters: tuple[str, ...]  # of the recorder
    cpus: tuple[str, ...]
    rules: int  # of matching
    lost: int  # records
    points: bool  # some log has points only
    logs: int


class Condition(NamedTuple):
    """One difference in how two recordings were made: the values `a` and `b`, and the effect.

    If `spoils` is True, the difference makes times or numbers incomparable.  If `spoils` is False,
    the effect of this difference may be what the user wants to measure.
    """

    what: str
    a: str
    b: str
    effect: str
    spoils: bool


def differing_conditions(a: RecordingConditions, b: RecordingConditions) -> tuple[Condition, ...]:
    """Return the differences in how `a` and `b` were made; those that spoil numbers come first."""
    found = _spoiling(a, b)
    if a.logs and b.logs:  # a capture alone says nothing about its kernel
        found += [*_recorded(a, b), *_wanted(a, b)]
    return tuple(sorted(found, key=lambda one: not one.spoils))


def _spoiling(a: RecordingConditions, b: RecordingConditions) -> list[Condition]:
    found = []
    if not (a.logs and b.logs):
        text = "A recording without a kernel log cannot be compared."
        found.append(Condition("kernel logs", str(a.logs), str(b.logs), text, True))
    if a.probed != b.probed:
        only_a, only_b = sorted(a.probed - b.probed), sorted(b.probed - a.probed)
        text = (
            "Functions that have a probe in only one of the recordings are not compared. Without "
            "its probe, a function's time counts as self time of its caller and of the caller's "
            "layer. Each probe costs time."
        )
        found.append(Condition("probe lists", _only(only_a), _only(only_b), text, True))
    if a.mechanisms != b.mechanisms:
        text = (
            "The cost of a probe differs, and all durations and self times include the cost of "
            "probes."
        )
        found.append(Condition("probe costs", _text(a.mechanisms), _text(b.mechanisms), text, True))
    if a.lost or b.lost:
        text = "Numbers that lost records may have changed are marked with *."
        lost = counted(a.lost, "record"), counted(b.lost, "record")
        found.append(Condition("lost", *lost, text, True))
    if a.points or b.points:
        text = (
            "A log that only has points (no exits) has no calls and no durations: only its drops "
            "can be compared."
        )
        found.append(Condition("points", _yes(a.points), _yes(b.points), text, True))
    if a.rules != b.rules:
        text = (
            "The packets of A and B were matched by different rules, so a filter may select "
            "different packets."
        )
        found.append(Condition("matching rules", str(a.rules), str(b.rules), text, True))
    return found


def _recorded(a: RecordingConditions, b: RecordingConditions) -> list[Condition]:
    """Return differences between what the recorders were asked to record."""
    found = []
    if a.filters != b.filters:
        text = (
            "The recorder's filters differ, so the recordings contain different kinds of packets."
        )
        found.append(Condition("filter", _text(a.filters), _text(b.filters), text, True))
    if a.counters != b.counters:
        text = "Counted events are not compared."
        found.append(Condition("counter", _text(a.counters), _text(b.counters), text, False))
    return found


def _wanted(a: RecordingConditions, b: RecordingConditions) -> list[Condition]:
    """Return the differences whose effect users often want to measure, such as another kernel."""
    found = []
    for what, one, two, text in (
        (
            "kernel",
            a.releases,
            b.releases,
            "In another kernel, a function may have another name or be inlined.",
        ),
        (
            "kernel build",
            a.kernels,
            b.kernels,
            "The compilers may have inlined different functions.",
        ),
        ("host", a.hosts, b.hosts, "The hosts differ, so all times may differ."),
        ("architecture", a.architectures, b.architectures, "Hardware and code are different."),
        (
            "CPUs",
            a.cpus,
            b.cpus,
            "With another number of CPUs, packets wait for a CPU more or less often.",
        ),
    ):
        if one != two:
            found.append(Condition(what, _text(one), _text(two), text, what == "architecture"))
    return found


def _only(names: list[str]) -> str:
    if not names:
        return "none only here"
    more = f" and {len(names) - SHOWN} more" if len(names) > SHOWN else ""
    return f"{', '.join(names[:SHOWN])}{more} only here"


def _text(words: tuple[str, ...]) -> str:
    return ", ".join(word for word in words if word) or "none"


def _yes(value: bool) -> str:
    return "yes" if value else "no"
