# SPDX-License-Identifier: MIT
"""Two packets side by side: aligned steps, where they part, and how much longer one took."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from skbviewer.analysis.comparison import packet_steps
from skbviewer.session import Session, open_files
from tests.analysis.comparison.test_path_classes import PLAIN, SLOWER, session_of

SAMPLE = Path("resources/samples/bulk")


@pytest.fixture
def session(tmp_path: Path) -> Iterator[Session]:
    hooked = (*PLAIN[:2], ("nf_hook_slow", 120, 180), PLAIN[2])
    made = session_of(tmp_path, PLAIN, SLOWER, hooked)
    yield made
    made.close()


def test_equal_paths(session: Session) -> None:
    one, two = (session.paths.path(series=number) for number in (1, 2))
    found = packet_steps(one, two)
    assert found.apart is None
    assert [step.name for step in found.steps] == ["__netif_receive_skb", "ip_rcv", "udp_rcv"]
    # Self times: 900 - 700, 700 - 500, 500, and 990 - 500, 500 - 390, 390.
    assert [step.longer_ns for step in found.steps] == [290, -90, -110]


def test_a_step_of_one_packet(session: Session) -> None:
    one, three = (session.paths.path(series=number) for number in (1, 3))
    found = packet_steps(one, three)
    assert found.apart == 2
    lone = found.steps[2]
    assert (lone.name, lone.a, lone.longer_ns) == ("nf_hook_slow", None, None)
    assert lone.b is not None
    assert (lone.b.begin_ns, lone.b.dur_ns) == (120, 60)
    assert found.steps[3].name == "udp_rcv"
    assert found.steps[3].longer_ns == 0


def test_a_packet_with_itself() -> None:
    path = open_files([SAMPLE / "bulk.kbl", SAMPLE / "bulk.pcap"]).paths.path(23)
    found = packet_steps(path, path)
    calls = sum(len(leg.calls) + len(leg.waits) for leg in path.legs)
    assert (found.apart, len(found.steps)) == (None, calls)
    assert all(step.longer_ns in (0, None) for step in found.steps)
