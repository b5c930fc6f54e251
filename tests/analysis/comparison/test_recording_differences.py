# SPDX-License-Identifier: MIT
"""What makes recordings not comparable is stated, and nothing else."""

from __future__ import annotations

from typing import Any

import pytest

from skbviewer.analysis.comparison import RecordingConditions, differing_conditions

ALIKE = RecordingConditions(
    releases=("6.12",),
    kernels=("#1 SMP",),
    hosts=("lab",),
    architectures=("x86_64",),
    probed=frozenset({"ip_rcv", "ip_output"}),
    mechanisms=("fprobe",),
    counters=("",),
    filters=("",),
    cpus=("4",),
    rules=5,
    lost=0,
    points=False,
    logs=1,
)


def test_alike() -> None:
    assert differing_conditions(ALIKE, ALIKE) == ()


@pytest.mark.parametrize(
    ("change", "what", "spoils"),
    [
        ({"releases": ("6.1",)}, "kernel", False),
        ({"hosts": ("other",)}, "host", False),
        ({"architectures": ("aarch64",)}, "architecture", True),
        ({"probed": frozenset({"ip_rcv"})}, "probe lists", True),
        ({"mechanisms": ("kretprobes",)}, "probe costs", True),
        ({"counters": ("instructions",)}, "counter", False),
        ({"filters": ("tcp",)}, "filter", True),
        ({"rules": 4}, "matching rules", True),
        ({"lost": 3}, "lost", True),
        ({"points": True}, "points", True),
        ({"logs": 0}, "kernel logs", True),
    ],
)
def test_each_difference(change: dict[str, Any], what: str, spoils: bool) -> None:
    (found,) = differing_conditions(ALIKE, ALIKE._replace(**change))
    assert (found.what, found.spoils) == (what, spoils)
    assert found.a != found.b
    assert found.effect.endswith(".")


def test_what_spoils_comes_first() -> None:
    found = differing_conditions(ALIKE, ALIKE._replace(hosts=("other",), lost=1))
    assert [one.what for one in found] == ["lost", "host"]


def test_functions_of_one_list_are_named() -> None:
    (found,) = differing_conditions(
        ALIKE, ALIKE._replace(probed=frozenset({"ip_rcv", "tcp_v4_rcv"}))
    )
    assert found.a == "ip_output only here"
    assert found.b == "tcp_v4_rcv only here"
