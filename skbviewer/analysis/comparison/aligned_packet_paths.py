# SPDX-License-Identifier: MIT
"""Two packets side by side: the steps of their paths, aligned to each other.

A step is a call or a wait.  Two steps are equal if their direction and function are equal, even if
other functions enclose them.  The longest runs of equal steps are aligned (Ratcliff & Metzener
1988, as in difflib).
"""

from __future__ import annotations

from difflib import SequenceMatcher
from typing import NamedTuple

from ...records import Leg, PacketPath, Wait

CALL, WAIT = "call", "wait"


class Moment(NamedTuple):
    """When a step of a packet began, and how long it took (ns).

    `begin_ns` counts from the start of the packet's path.  None stands for an unknown time.
    """

    begin_ns: int
    dur_ns: int | None
    self_ns: int | None  # of a wait: its duration


class Step(NamedTuple):
    """A call or a wait of packet `a`, `b` or both; `leg` is the direction as in LEG_KINDS."""

    kind: str
    leg: str
    depth: int
    name: str
    a: Moment | None
    b: Moment | None

    @property
    def longer_ns(self) -> int | None:
        """Return how much longer (ns) the step itself took in `b` than in `a`; None if unknown."""
        if self.a is None or self.b is None or self.a.self_ns is None or self.b.self_ns is None:
            return None
        return self.b.self_ns - self.a.self_ns


class PacketSteps(NamedTuple):
    """The steps of two packets; `apart` is the index of the first step that only one packet has."""

    steps: tuple[Step, ...]
    apart: int | None


class _Own(NamedTuple):
    """A step of one packet; `key` is its kind, direction and name."""

    key: tuple[str, str, str]
    depth: int
    moment: Moment


def packet_steps(a: PacketPath, b: PacketPath) -> PacketSteps:
    """Align the paths `a` and `b` of two packets, step by step.

    Legs that may belong to other packets are left out.
    """
    ours, theirs = _steps(a), _steps(b)
    keys = [[step.key for step in steps] for steps in (ours, theirs)]
    matcher = SequenceMatcher(None, keys[0], keys[1], autojunk=False)
    found: list[Step] = []
    for _, a1, a2, b1, b2 in matcher.get_opcodes():
        if keys[0][a1:a2] == keys[1][b1:b2]:
            pairs = zip(ours[a1:a2], theirs[b1:b2], strict=True)
            found += [_step(one, two) for one, two in pairs]
        else:
            found += [_step(one, None) for one in ours[a1:a2]]
            found += [_step(None, two) for two in theirs[b1:b2]]
    lone = (at for at, step in enumerate(found) if step.a is None or step.b is None)
    return PacketSteps(tuple(found), next(lone, None))


def _step(a: _Own | None, b: _Own | None) -> Step:
    one = a or b
    assert one is not None
    kind, leg, name = one.key
    return Step(kind, leg, one.depth, name, a and a.moment, b and b.moment)


def _steps(path: PacketPath) -> list[_Own]:
    return [step for leg in path.certain_legs for step in _of_leg(leg)]


def _of_leg(leg: Leg) -> list[_Own]:
    """Return the calls and waits of a leg in order; a wait stands before the next call."""
    waits = sorted(leg.waits, key=lambda wait: wait.begin_ns)
    found: list[_Own] = []
    at = 0
    for call in leg.calls:
        while at < len(waits) and waits[at].begin_ns + waits[at].dur_ns <= call.entry_ns:
            found.append(_waited(leg, at, waits))
            at += 1
        moment = Moment(call.entry_ns - leg.zero_ns, call.dur_ns, call.self_ns)
        found.append(_Own((CALL, leg.kind, call.function), call.depth, moment))
    return found + [_waited(leg, rest, waits) for rest in range(at, len(waits))]


def _waited(leg: Leg, at: int, waits: list[Wait]) -> _Own:
    wait = waits[at]
    moment = Moment(wait.begin_ns - leg.zero_ns, wait.dur_ns, wait.dur_ns)
    return _Own((WAIT, leg.kind, wait.what), 0, moment)
