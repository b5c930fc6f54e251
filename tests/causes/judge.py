# SPDX-License-Identifier: MIT
"""``python -m tests.causes``: compare what `skbviewer diagnose` says with what was provoked.

Input: recordings of scenarios.py.  Output: for each rule how often it was found where it was
provoked (recall), and how often it was right where it found something (precision); and whether the
number of packets equals the kernel's own count.
"""

from __future__ import annotations

import json
import re
import subprocess
import sys
from collections import Counter
from collections.abc import Iterable
from pathlib import Path
from typing import Any, NamedTuple

from .scenarios import SYMPTOMS, Provoked


class Judged(NamedTuple):
    """One recording: the rules that found something, and what is wrong about that.

    `ranks` is the rank of the first finding of each rule, from 1.  `counts`: (packets that the
    rule found, the kernel's count) or None.  `ordered`: whether several provoked causes
    were found in the right order; None if the scenario does not say.
    """

    name: str
    seed: int
    ranks: dict[str, int]
    missing: tuple[str, ...]
    false: tuple[str, ...]
    unjudged: tuple[str, ...]
    counts: tuple[int, int] | None
    ordered: bool | None = None


def diagnosed(folder: Path) -> dict[str, Any]:
    """Return the JSON of `skbviewer diagnose` on one recording."""
    files = [folder / "log.kbl", *sorted(folder.glob("*.pcap"))]
    command = [sys.executable, "-m", "skbviewer", "diagnose", "--json", *map(str, files)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode not in (0, 1):
        raise RuntimeError(f"{folder}: {done.stderr}")
    made: dict[str, Any] = json.loads(done.stdout)
    return made


def judge(scenario: Provoked, seed: int, folder: Path, said: dict[str, Any]) -> Judged:
    """Compare one diagnosis with the provoked causes."""
    ranks: dict[str, int] = {}
    fine = {*scenario.must, *scenario.may, *SYMPTOMS}
    for finding in said["findings"]:
        if finding["rule"] != "drop" or finding["severity"] == "critical":  # otherwise nothing lost
            ranks.setdefault(finding["rule"], finding["rank"])
    if ran(folder, "ksoftirqd"):
        fine.add("ksoftirqd")
    unjudged = tuple(one["rule"] for one in said["judged"] if not one["judged"])
    counts = None
    if scenario.counter:
        rule = (*scenario.must, *scenario.may)[0]
        counts = _shown(said, rule), kernels_count(folder, *scenario.counter)
    return Judged(
        scenario.name,
        seed,
        ranks,
        tuple(rule for rule in scenario.must if rule not in ranks),
        tuple(rule for rule in ranks if rule not in fine),
        unjudged,
        counts,
        _ordered(scenario, ranks) if scenario.ordered else None,
    )


def _shown(said: dict[str, Any], rule: str) -> int:
    """Return the packets of the rule's first finding, and of those with the same advice.

    UDP finds a wrong checksum in two functions; the kernel counts both.
    """
    found = [one for one in said["findings"] if one["rule"] == rule]
    return sum(one["packets"] for one in found if one["advice"] == found[0]["advice"])


def _ordered(scenario: Provoked, ranks: dict[str, int]) -> bool:
    """Return whether all rules that must find something did so, in their order."""
    found = [ranks.get(rule, 0) for rule in scenario.must]
    return 0 not in found and found == sorted(found)


def ran(folder: Path, thread: str) -> bool:
    """Return whether a thread of the kernel ran while traffic was recorded, by its schedstat."""
    began, ended = ((folder / f"{thread}.{when}").read_text().split() for when in ("0", "1"))
    return began[0::3] != ended[0::3]  # time run, time waited, times run; for each CPU


def kernels_count(folder: Path, file: str, name: str) -> int:
    """Return what the kernel itself counted."""
    text = (folder / file).read_text()
    if file.endswith(".counters"):
        group, column = name.split(".")
        names, values = re.findall(rf"^{group}: (.*)$", text, re.MULTILINE)
        return int(values.split()[names.split().index(column)])
    if file.endswith(".qdisc"):
        return sum(int(one) for one in re.findall(rf"{name} (\d+)", text))
    rows = [line.split() for line in text.splitlines() if line.rstrip().endswith(name)]
    return sum(int(row[0]) for row in rows)


class Score(NamedTuple):
    """How often a rule was provoked, found, and found without being provoked."""

    rule: str
    provoked: int
    found: int
    false: int


def scores(judged: Iterable[Judged], scenarios: dict[str, Provoked]) -> list[Score]:
    """Return the score of each rule that was provoked or found."""
    provoked, found, false = Counter[str](), Counter[str](), Counter[str]()
    for one in judged:
        must = scenarios[one.name].must
        provoked.update(must)
        found.update(rule for rule in must if rule in one.ranks)
        false.update(one.false)
    rules = sorted({*provoked, *false})
    return [Score(rule, provoked[rule], found[rule], false[rule]) for rule in rules]
