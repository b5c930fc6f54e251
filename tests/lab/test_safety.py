# SPDX-License-Identifier: MIT
"""The module is loaded and unloaded under traffic, and written to by an enemy."""

from __future__ import annotations

import re

import pytest

from tests.lab.fixture import Lab
from tests.lab.fixture import mistreated as mistreated
from tests.lab.kbl_check import Type, probes, read

pytestmark = pytest.mark.lab


def test_fifty_cycles_under_traffic_without_a_warning(mistreated: Lab) -> None:
    assert int((mistreated.out / "cycles.txt").read_text()) >= 50
    said = (mistreated.out / "dmesg.txt").read_text(errors="replace")  # what the fuzzer wrote
    assert said.count("kbl: recording") >= 50
    kernels = "\n".join(line for line in said.splitlines() if "] kbl: " not in line)
    assert not re.search(r"BUG|WARNING|Oops|Call Trace|refcount", kernels)


def test_fuzz_was_refused_as_it_should_be(mistreated: Lab) -> None:
    said = (mistreated.out / "fuzz.txt").read_text()
    assert re.match(r"fuzz: seed \d+\n", said)
    rows = re.findall(r"fuzz: (\S+) taken (\d+) refused (\d+) reads (\d+) unexpected (\d+)", said)
    files = {path.rpartition("/")[2] for path, *_ in rows}
    assert {"probes", "control", "filter", "events", "counter", "stats"} <= files
    assert "/proc/net/kbl" in {path for path, *_ in rows}
    assert all(int(row[4]) == 0 for row in rows)
    assert all(int(row[2]) > 10 for row in rows)


def test_module_records_after_the_fuzz(mistreated: Lab) -> None:
    kbl = read(mistreated.out / "fuzz.kbl")
    assert probes(kbl)["icmp_rcv"]["hits"] >= 6
    assert kbl.types[-1] == Type.END
