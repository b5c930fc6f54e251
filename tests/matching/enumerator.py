# SPDX-License-Identifier: MIT
"""All consistent assignments of packets to tap moments, enumerated by definition.

This is the oracle of the assignment's tests.  It shares no code with the product and imports none
of it: it tries every assignment, and stops early only where nothing more can be learned.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

ABSENT = -1  # the answer "no moment of the log"
Pair = tuple[int, int]  # packet, moment


class Case(NamedTuple):
    """Packets in the order of their file, moments, and for each packet the moments of its looks.

    Times are ns.  A packet's stamp is `at`, at most `error` off; a moment's stamp lies within
    [after, before], its call within [begin, end].
    """

    at: list[int]
    error: list[int]
    may_lack: list[bool]
    life: list[int]
    after: list[int]
    before: list[int]
    begin: list[int]
    end: list[int]
    options: list[list[int]]


class Answer(NamedTuple):
    """The enumerator's result: `lives` has every lifetime that each packet may have.

    ABSENT is one of them where the packet may have none.  A packet whose group has no consistent
    assignment has an empty set.  `pairs` were seen in some assignment; `complete` says whether
    these are all, or the search stopped when no packet was unanimous any more.
    """

    lives: list[set[int]]
    pairs: set[Pair]
    complete: bool


def in_time(case: Case, packet: int, moment: int) -> bool:
    """Return whether the packet can have been stamped at the moment."""
    early = case.at[packet] - case.error[packet] <= case.before[moment]
    return early and case.at[packet] + case.error[packet] >= case.after[moment]


def answer(case: Case) -> Answer:
    """Return the result of all consistent assignments; by groups if the whole case has none."""
    options = [[m for m in some if in_time(case, p, m)] for p, some in enumerate(case.options)]
    everyone = list(range(len(case.at)))
    whole = _Search(case, options, everyone)
    whole.run()
    if whole.found:
        return Answer([whole.lives[p] for p in everyone], whole.pairs, not whole.stopped)
    return _by_groups(case, options)


def _by_groups(case: Case, options: list[list[int]]) -> Answer:
    """Leave out groups whose moments alone contradict each other; solve each other group."""
    lives: list[set[int]] = [set() for _ in case.at]
    pairs: set[Pair] = set()
    must = [p for p in range(len(case.at)) if not case.may_lack[p]]
    left = [p for p in range(len(case.at)) if case.may_lack[p]]
    for group in _groups(must, lambda p, q: _share(options, p, q)):
        search = _Search(case, options, group)
        search.run()
        left += group if search.found else []
    complete = True
    firm = sorted(p for p in left if not case.may_lack[p])
    loose = [p for p in left if case.may_lack[p]]
    for group in _groups(firm, lambda p, q: _share(options, p, q) or _cross(case, options, p, q)):
        search = _Search(case, options, group)
        search.run()
        complete &= not search.stopped
        pairs |= search.pairs
        for p in group:
            lives[p] = search.lives[p]
    for p in loose:
        lives[p] = {ABSENT}
    return Answer(lives, pairs, complete)


def _share(options: list[list[int]], p: int, q: int) -> bool:
    return bool(set(options[p]) & set(options[q]))


def _cross(case: Case, options: list[list[int]], p: int, q: int) -> bool:
    """Return whether two packets can have moments that contradict their order in the file."""
    first, second = min(p, q), max(p, q)
    return any(case.end[y] < case.begin[x] for x in options[first] for y in options[second])


def _groups(members: Sequence[int], linked: object) -> Iterable[list[int]]:
    assert callable(linked)
    rest = list(members)
    while rest:
        group, reached = [], [rest.pop(0)]
        while reached:
            p = reached.pop()
            group.append(p)
            near = [q for q in rest if linked(p, q)]
            rest = [q for q in rest if q not in near]
            reached += near
        yield sorted(group)


class _Search:
    """Tries all assignments of some packets, in the order of the file."""

    def __init__(self, case: Case, options: list[list[int]], members: list[int]) -> None:
        self.case, self.options, self.members = case, options, members
        self.lives: dict[int, set[int]] = {p: set() for p in members}
        self.pairs: set[Pair] = set()
        self.chosen: list[tuple[int, int]] = []
        self.used: set[int] = set()
        self.found = self.stopped = False

    def run(self, depth: int = 0) -> None:
        """Try everything from the packet `depth` on; `chosen` holds what is assigned before."""
        if depth == len(self.members):
            self._keep()
            return
        case, p = self.case, self.members[depth]
        for moment in self.options[p]:
            if moment in self.used:
                continue
            if any(case.end[moment] < case.begin[x] for _, x in self.chosen if x != ABSENT):
                continue
            self._try(p, moment, depth)
            if self.stopped:
                return
        if case.may_lack[p]:
            self._try(p, ABSENT, depth)

    def _try(self, p: int, moment: int, depth: int) -> None:
        self.chosen.append((p, moment))
        if moment != ABSENT:
            self.used.add(moment)
        self.run(depth + 1)
        self.used.discard(moment)
        self.chosen.pop()

    def _keep(self) -> None:
        self.found = True
        for p, moment in self.chosen:
            self.lives[p].add(ABSENT if moment == ABSENT else self.case.life[moment])
            if moment != ABSENT:
                self.pairs.add((p, moment))
        self.stopped = all(len(lives) > 1 for lives in self.lives.values())
