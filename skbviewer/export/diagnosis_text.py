# SPDX-License-Identifier: MIT
"""A diagnosis as text for people, for `skbviewer diagnose` and for copying from the window."""

from __future__ import annotations

import textwrap
from typing import NamedTuple

from ..analysis.diagnosis import Diagnosis, Finding
from ..analysis.diagnosis.required_data import CHOSEN
from ..analysis.stats.time_in_kernel_table import TimeRow

WIDTH = 100


class Skipped(NamedTuple):
    """Rules that could not be judged, the data that they lack, and how to record this data."""

    rules: str
    missing: str
    how: str

    @property
    def why(self) -> str:
        """Return as a sentence which data a rule lacks, and how to record it."""
        if self.missing == CHOSEN:
            return f"Nothing was chosen: {self.how}."
        return f"The recording lacks {self.missing}. To record it: {self.how}."


def lines(made: Diagnosis) -> list[str]:
    """Return a diagnosis as lines of text for people."""
    found = _time_lines(made)
    if not made.findings and any(one.judged for one in made.judged):
        found += ["", "No findings."]
    for rank, finding in enumerate(made.findings, 1):
        found += ["", *_finding_lines(rank, finding)]
    found += ["", *_wrapped(f"Judged, nothing found: {', '.join(quiet(made)) or 'none'}.")]
    skipped = not_judged(made)
    if skipped:
        found += ["", "Could not be judged:"]
    for one in skipped:
        found += _wrapped(f"{one.rules}: {one.why[0].lower()}{one.why[1:]}", "  ")
    return found


def quiet(made: Diagnosis) -> list[str]:
    """Return the names of the rules that were judged and found nothing."""
    judged = {one.rule for one in made.judged if one.judged}
    return sorted(judged - {one.rule for one in made.findings})


def not_judged(made: Diagnosis) -> list[Skipped]:
    """Return the rules that could not be judged; rules that lack the same data share one entry."""
    alike: dict[tuple[str, str], list[str]] = {}
    for one in made.judged:
        if not one.judged:
            alike.setdefault(("; ".join(one.missing), one.how_to_record), []).append(one.rule)
    return [Skipped(", ".join(rules), *why) for why, rules in alike.items()]


def _time_lines(made: Diagnosis) -> list[str]:
    """Return the parts of the time in kernel as lines, longest first."""
    rows = made.time.rows
    if not rows:
        return ["No packet with a known time in kernel was chosen."]
    packets = "1 packet" if made.time.packets == 1 else f"{made.time.packets} packets"
    total = sum(row.total_ns for row in rows)
    found = [f"Time in kernel of {packets}: {_us(total)} us", ""]
    found += [f"  {'part':<32}{'us':>14}{'%':>8}{'median us':>14}"]
    for row in rows:
        usual = "-" if row.median_ns is None else _us(row.median_ns)
        found.append(f"  {part_name(row):<32}{_us(row.total_ns):>14}{row.share:>8.2f}{usual:>14}")
    return found


def part_name(row: TimeRow) -> str:
    """Return the name of a part of the time: "wait: softirq"."""
    return f"{row.kind}: {row.part}" if row.kind != "probes" else row.part


def _us(ns: int) -> str:
    return f"{ns / 1000:.3f}"


def _finding_lines(rank: int, one: Finding) -> list[str]:
    found = [f"{rank}. {one.severity}: {one.rule}"]
    found += _wrapped(one.text, "   ")
    for fact in one.evidence:
        row = "" if fact.id is None or fact.kind == "packet" else f" [{fact.kind} {fact.id}]"
        found += _wrapped(f"- {fact.text}{row}", "   ", "     ")
    return found + _wrapped(f"Advice: {one.advice}", "   ")


def _wrapped(text: str, indent: str = "", later: str | None = None) -> list[str]:
    after = indent if later is None else later
    return textwrap.wrap(text, WIDTH, initial_indent=indent, subsequent_indent=after)
