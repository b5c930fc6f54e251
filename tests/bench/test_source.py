# SPDX-License-Identifier: MIT
"""The table of the cost of probes in the source has the measured figures."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.bench import source
from tests.bench.kmod_lines import Measured
from tests.lab import debs
from tests.lab.record import KMOD

RUN = Measured("", 1e9, 1e8, 40.0, 0, 0, 0, 0, 0, 0, 0, 0, 0)


def test_what_a_call_costs_is_over_the_plain_kernel() -> None:
    active = RUN._replace(
        bits_per_s=5e8, rtt_us=80.0, armed=500, calls=200_000, record_bytes=12_800_000
    )
    runs = {"plain": RUN, "source-floor-500": RUN._replace(bits_per_s=8e8), "source-500": active}
    head, rule, plain, floor, row = source.table(runs).splitlines()
    assert {line.count("|") for line in (head, rule, plain, floor, row)} == {12}
    cells = [cell.strip() for cell in row.strip("|").split("|")]
    # 2 and 4 instructions a byte, 2,000 calls a megabyte.
    assert cells == ["probes, 500 active", "500.0", "0.500", "80", "2.00", "500", "2,000",
                     "64.0", "1,000", "0", "0"]  # fmt: skip
    assert floor.split("|")[9].strip() == "250"


@pytest.fixture
def kernels(tmp_path: Path) -> dict[bool, debs.Kernel]:
    """Two kernels with symbols, the second with a manifest."""
    made = {}
    for probes, text in ((False, "ip_rcv skb_clone lone twice"), (True, "ip_rcv skb_clone twice")):
        folder = tmp_path / source.FOLDERS[probes]
        folder.mkdir()
        lines = [f"ffffffff81000000 T {name}" for name in text.split()]
        (folder / "System.map").write_text("\n".join(lines))
        made[probes] = debs.Kernel("6.1", folder, folder, folder)
    names = ("ip_rcv", "skb_clone", "lone", "twice", "twice", "inlined")
    rows = [{"function": name, "carriers": ["skb@3"]} for name in names]
    manifest = tmp_path / source.FOLDERS[True] / "manifest.json"
    manifest.write_text(json.dumps({"functions": rows}))
    return made


def test_functions_are_those_of_both_kernels(
    tmp_path: Path, kernels: dict[bool, debs.Kernel]
) -> None:
    assert "skb_clone skb@0 skb@ret clone" in (KMOD / "probes-6.1.txt").read_text()
    assert source.functions(tmp_path, kernels) == [
        "skb_clone skb@3 skb@ret clone",
        "ip_rcv skb@3 int",
    ]
