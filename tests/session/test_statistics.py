# SPDX-License-Identifier: MIT
"""Statistics of real recordings agree with the paths of their packets."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import NamedTuple

import pytest

from skbviewer.analysis.stats import Chosen, function_rows
from skbviewer.records import resource
from skbviewer.session import Session, import_files


class Call(NamedTuple):
    """One call, whichever packets it handled."""

    thread: tuple[str, int]  # where calls nest
    entry_ns: int
    exit_ns: int
    irq_ns: int
    function: str


def calls_of_paths(session: Session) -> list[Call]:
    """Each call that any path shows, once; outer ones first."""
    found: dict[tuple[object, ...], Call] = {}
    for series in range(1, session.info()["series"] + 1):
        for leg in session.path(series=series).legs:
            for call in leg.calls:
                assert call.exit_ns is not None
                inner = call.context != "task"
                thread = (call.context, call.cpu if inner else call.pid)
                one = Call(thread, call.entry_ns, call.exit_ns, call.irq_ns, call.function)
                found[one[:3] + (call.function,)] = one
    return sorted(found.values(), key=lambda c: (c.thread, c.entry_ns, -c.exit_ns))


def own_times(calls: list[Call]) -> Counter[str]:
    """What functions took themselves: less the calls and interrupts inside."""
    own, open_ = Counter[str](), list[Call]()
    for call in calls:
        while open_ and (open_[-1].thread != call.thread or open_[-1].exit_ns < call.exit_ns):
            open_.pop()
        took = call.exit_ns - call.entry_ns - call.irq_ns
        own[call.function] += took
        if open_:
            own[open_[-1].function] -= took
        open_.append(call)
    return own


@pytest.mark.parametrize("name", ["handshake", "nat", "bulk"])
def test_numbers_are_those_of_the_calls_whatever_packets_share_them(
    name: str, tmp_path: Path
) -> None:
    out = tmp_path / "s.skbv"
    import_files([resource(f"samples/{name}") / f"{name}.{end}" for end in ("kbl", "pcap")], out)
    session = Session.open(out)
    rows = {row.function: row for row in function_rows(session.statistics(Chosen(everything=True)))}
    calls = calls_of_paths(session)
    total = Counter[str]()
    for call in calls:
        total[call.function] += call.exit_ns - call.entry_ns
    assert {f: row.number for f, row in rows.items()} == Counter(c.function for c in calls)
    assert {f: row.total_ns for f, row in rows.items()} == total
    assert {f: row.self_ns for f, row in rows.items()} == own_times(calls)
    session.close()
