# SPDX-License-Identifier: MIT
"""An exact match of match() holds in every consistent assignment, and is the truth."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from random import Random

import pytest

from .enumerator import ABSENT, answer
from .staged import Scene, Stage, case_of, originals, scene, stage

LOGS, SCENES, PARTS = 26, 40, 4  # of each version of the log


@pytest.mark.parametrize("part", range(PARTS))
def test_exact_is_unanimous_and_true(tmp_path: Path, part: int) -> None:
    rng, tally = Random(2026 + part), Counter[str]()
    wrong: list[str] = []
    for number in range(LOGS * part // PARTS, LOGS * (part + 1) // PARTS):
        sends = rng.choice([0.0, 0.0, 1.0, 0.3])
        losses, honest = number % 3 == 0, number % 4 != 1  # one copy may spoil a whole capture
        scenes = [scene(n + 1, rng, losses, sends, honest) for n in range(SCENES)]
        made = stage(tmp_path, scenes, sends, rng)
        for n in range(SCENES):
            wrong += compare(made, n, honest, tally)
    print(dict(tally))
    assert not wrong, (len(wrong), wrong[0])
    assert tally["exact"] > 200


def compare(made: Stage, number: int, honest: bool, tally: Counter[str]) -> list[str]:
    """Return the errors in the matches of one scene."""
    one, first, wrong = made.scenes[number], made.first[number], []
    case = case_of(made, number)
    known = answer(case)
    tally["scenes"] += 1
    asked = originals(one)
    wrong += [
        f"a copy is exact: packet {p} of {one}" for p in copies(one) if first + p in made.exact
    ]
    for p, lives in zip(asked, known.lives, strict=True):
        exact, sent = made.exact.get(first + p, set()), one.packets[p]
        said = {n for n, life in enumerate(one.lives) if life.skb in exact}
        where = f"packet {p} of {one}: {said}; {case}: {known}"
        unanimous = len(lives) == 1 and ABSENT not in lives
        tally["unanimous" if unanimous else "open" if lives else "crowded"] += 1
        tally["exact"] += bool(exact)
        if honest and not one.gaps:
            tally["unanimous in a whole log"] += unanimous
            tally["lost recall"] += unanimous and not exact
        if (
            one.honest
            and known.complete
            and (ABSENT if one.lives[sent.life].lost else sent.life) not in lives
        ):
            tally["truth not among them"] += 1
            wrong.append("truth not among them: " + where)
        if exact and one.honest and said != {sent.life}:
            tally["not true"] += 1
            wrong.append("not true: " + where)
        elif exact and said != lives:
            tally["not unanimous" if lives else "exact though crowded"] += 1
            wrong.append("not unanimous: " + where)
    return wrong


def copies(one: Scene) -> list[int]:
    """The packets that are more than once in the capture."""
    looks = [(sent.stamp, sent.looks) for sent in one.packets]
    return [n for n, look in enumerate(looks) if looks.count(look) > 1]
