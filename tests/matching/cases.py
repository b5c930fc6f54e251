# SPDX-License-Identifier: MIT
"""Small cases of packets and tap moments, drawn at random around a hidden truth."""

from __future__ import annotations

from dataclasses import dataclass, field
from random import Random
from typing import TypeVar

from .enumerator import ABSENT, Case, in_time

PACKETS, LIVES = 7, 7
TRIES = 1200  # assignments of a case, if nothing excluded any

Header = tuple[int | None, int | None]
T = TypeVar("T")


@dataclass
class Drawn:
    """A case under construction: `truth` has the moment of each packet, or ABSENT.

    `honest`: nothing happened that a matcher may not assume, so the truth is consistent.
    """

    at: list[int] = field(default_factory=list)
    error: list[int] = field(default_factory=list)
    may_lack: list[bool] = field(default_factory=list)
    looks: list[Header] = field(default_factory=list)
    truth: list[int] = field(default_factory=list)
    life: list[int] = field(default_factory=list)
    after: list[int] = field(default_factory=list)
    before: list[int] = field(default_factory=list)
    begin: list[int] = field(default_factory=list)
    end: list[int] = field(default_factory=list)
    shown: list[Header] = field(default_factory=list)
    honest: bool = True

    def case(self) -> Case:
        """Return the input of the matcher."""
        options = [[m for m, b in enumerate(self.shown) if alike(a, b)] for a in self.looks]
        return Case(
            self.at,
            self.error,
            self.may_lack,
            self.life,
            self.after,
            self.before,
            self.begin,
            self.end,
            options,
        )

    def without(self, packets: set[int], moments: set[int]) -> Drawn:
        """Leave out some packets, and moments: the log may lack their packets' moments."""
        stay = [p for p in range(len(self.at)) if p not in packets]
        keep = [m for m in range(len(self.life)) if m not in moments]
        new = {m: n for n, m in enumerate(keep)}
        return Drawn(
            at=[self.at[p] for p in stay],
            error=[self.error[p] for p in stay],
            may_lack=[self.may_lack[p] or self.truth[p] in moments for p in stay],
            looks=[self.looks[p] for p in stay],
            truth=[new.get(self.truth[p], ABSENT) for p in stay],
            life=[self.life[m] for m in keep],
            after=[self.after[m] for m in keep],
            before=[self.before[m] for m in keep],
            begin=[self.begin[m] for m in keep],
            end=[self.end[m] for m in keep],
            shown=[self.shown[m] for m in keep],
            honest=self.honest,
        )


def alike(one: Header, other: Header) -> bool:
    """Return whether no value known to both differs."""
    return all(a is None or b is None or a == b for a, b in zip(one, other, strict=True))


def draw(rng: Random) -> Drawn:
    """Return a case small enough that all its assignments can be tried."""
    while True:
        made = _taken_away(_dishonest(_captured(_log(rng), rng), rng), rng)
        case, tries = made.case(), 1
        for p, some in enumerate(case.options):
            tries *= sum(in_time(case, p, m) for m in some) + case.may_lack[p] or 1
        if made.at and tries <= TRIES:
            return made


def reduced(drawn: Drawn, rng: Random) -> Drawn:
    """Return the case without some packets and moments."""
    share = rng.choice([0.1, 0.3, 0.5])
    packets = {p for p in range(len(drawn.at)) if rng.random() < share}
    moments = {m for m in range(len(drawn.life)) if rng.random() < share}
    return drawn.without(packets, moments)


def _log(rng: Random) -> Drawn:
    made, length = Drawn(), rng.choice([10, 30, 80])
    values = rng.choice([[0], [0, 1], [0, 1, 2]])
    longest, unknown = rng.choice([0, 3, 12]), rng.choice([0.0, 0.0, 0.2])
    for life in range(rng.randint(1, LIVES)):
        header = rng.choice(values), rng.choice([0, 0, 0, 1])
        for _ in range(rng.choice([1, 1, 1, 2])):
            begin = rng.randint(0, length)
            end = begin + rng.randint(0, longest)
            made.life.append(life)
            made.begin.append(begin)
            made.end.append(end)
            early = rng.randint(begin - rng.choice([0, 0, 3]), end)
            made.after.append(early)
            made.before.append(rng.randint(early, end))
            made.shown.append(_hidden(header, unknown, rng))
    return made


def _hidden(header: Header, unknown: float, rng: Random) -> Header:
    one, two = (None if rng.random() < unknown else value for value in header)
    return one, two


def _captured(made: Drawn, rng: Random) -> Drawn:
    """Return packets in the order in which the sniffer wrote them: by moments within the calls."""
    error, unknown = rng.choice([0, 2, 6, 20]), rng.choice([0.0, 0.0, 0.2])
    missing = rng.choice([0.0, 0.0, 0.2, 0.5])
    when = [(rng.uniform(made.begin[m], made.end[m]), m) for m in range(len(made.life))]
    for _, moment in [row for row in sorted(when) if rng.random() >= missing][:PACKETS]:
        stamp = rng.randint(made.after[moment], made.before[moment])
        off = rng.randint(0, error)
        _write(made, stamp + rng.randint(-off, off), off, moment)
        header = made.shown[moment]
        full = tuple(rng.choice([0, 1]) if value is None else value for value in header)
        made.looks[-1] = _hidden((full[0], full[1]), unknown, rng)
    return made


def _write(made: Drawn, at: int, error: int, moment: int) -> None:
    made.at.append(at)
    made.error.append(error)
    made.may_lack.append(False)
    made.truth.append(moment)
    made.looks.append((None, None))


def _taken_away(made: Drawn, rng: Random) -> Drawn:
    """Return losses: declared where the log lacks a moment, and sometimes where it lacks none."""
    lost = rng.choice([0.0, 0.0, 0.0, 0.3])
    made = made.without(set(), {m for m in range(len(made.life)) if rng.random() < lost})
    doubt = rng.choice([0.0, 0.0, 0.2, 0.6])
    made.may_lack = [lacks or rng.random() < doubt for lacks in made.may_lack]
    return made


def _dishonest(made: Drawn, rng: Random) -> Drawn:
    """Return undeclared faults: a copy, a foreign packet, a missed hit, another order."""
    kind = rng.choice(["", "", "", "", "copy", "foreign", "missed", "order"])
    if not kind or not made.at:
        return made
    made.honest, p = False, rng.randrange(len(made.at))
    if kind == "copy" and len(made.at) < PACKETS:
        _again(made.at, p)
        _again(made.error, p)
        _again(made.may_lack, p)
        _again(made.looks, p)
        _again(made.truth, p)
    if kind == "foreign":
        made.looks[p], made.truth[p] = (rng.choice([0, 1, 2]), 0), ABSENT
    if kind == "missed":
        lacks, made = made.may_lack[p], made.without(set(), {made.truth[p]})
        made.may_lack[p] = lacks
    if kind == "order":
        q = rng.randrange(len(made.at))
        _swapped(made.at, p, q)
        _swapped(made.error, p, q)
        _swapped(made.may_lack, p, q)
        _swapped(made.looks, p, q)
        _swapped(made.truth, p, q)
    return made


def _again(column: list[T], p: int) -> None:
    column.insert(p, column[p])


def _swapped(column: list[T], p: int, q: int) -> None:
    column[p], column[q] = column[q], column[p]
