# SPDX-License-Identifier: MIT
"""The overhead table has the figures that the guests printed."""

from __future__ import annotations

import pytest

from tests.bench.kmod_guest import INSTRUCTIONS_PER_S
from tests.bench.kmod_lines import BadConsole, Measured, parse
from tests.bench.kmod_lists import FEW, FIFTY, names_of
from tests.bench.kmod_table import calls_per_byte, cost, table

CONSOLE = """\
BENCH refused 1
BENCH mark begin uptime 20.01 idle 830
BENCH stat begin written 100
BENCH stat begin bytes 4000
BENCH stat begin lost 0
BENCH probes begin hits 1000 missed 0 armed 50 errors 1
BENCH iperf [ ID] Interval           Transfer     Bitrate         Retr  Cwnd
BENCH iperf [  5]   0.00-1.01   sec  68.8 MBytes  111111 Kbits/sec    0    297 KBytes
BENCH iperf [  5]   0.00-2.00   sec   204 MBytes  400000 Kbits/sec    0             sender
BENCH iperf [  5]   0.00-2.01   sec   204 MBytes  399999 Kbits/sec                  receiver
BENCH mark middle uptime 23.01 idle 830
BENCH stat middle written 300
BENCH stat middle bytes 14000
BENCH stat middle lost 0
BENCH probes middle hits 101000 missed 2 armed 50 errors 1
BENCH ping rtt min/avg/max/mdev = 0.049/0.050/0.066/0.001 ms, ipg/ewma 0.091/0.050 ms
BENCH mark end uptime 24.01 idle 830
BENCH stat end lost 7
BENCH stat end missed 3
BENCH probes end hits 111000 missed 2 armed 50 errors 1
BENCH DONE
"""


def run(line: str, bits_per_s: float, calls: int = 0) -> Measured:
    """A run of two seconds."""
    sent = bits_per_s * 2 / 8
    return Measured(line, bits_per_s, sent, 50.0, 0, 50, 0, calls, calls, 64 * calls, 0, 0, 0)


def test_console_is_read() -> None:
    read = parse("disk-50", CONSOLE)
    assert (read.bits_per_s, read.bytes_sent, read.rtt_us) == (4e8, 1e8, 50.0)
    assert (read.calls, read.records, read.record_bytes) == (100000, 200, 10000)
    assert (read.lost, read.missed, read.ping_calls) == (7, 3, 10000)
    assert (read.idle_ticks, read.armed, read.refused) == (0, 50, 1)


def test_console_that_lacks_a_number_is_an_error() -> None:
    with pytest.raises(BadConsole, match="rtt"):
        parse("none", CONSOLE.replace("rtt", "gone"))


def test_cost_of_a_call_is_what_the_byte_costs_more() -> None:
    runs = {
        "none": run("none", 8e8),
        "floor-50": run("floor-50", 6e8),
        "disk-50": run("disk-50", 4e8, calls=10**6),
    }
    per_call = 1e8 / 1e6
    slower = INSTRUCTIONS_PER_S * 8 * (1 / 4e8 - 1 / 8e8)
    assert cost("disk-50", runs).total == pytest.approx(slower * per_call)
    over = INSTRUCTIONS_PER_S * 8 * (1 / 4e8 - 1 / 6e8)
    assert cost("disk-50", runs).over_floor == pytest.approx(over * per_call)
    # Empty handlers count nothing: the calls are those of the same functions elsewhere.
    assert calls_per_byte("floor-50", runs) == pytest.approx(0.01)
    assert cost("floor-50", runs).over_floor is None
    assert calls_per_byte("floor-500", runs) is None


def test_table_has_a_row_for_each_run() -> None:
    runs = {"none": run("none", 8e8), "disk-50": run("disk-50", 4e8, calls=10**6)}
    lines = table("6.1", runs).splitlines()
    assert len({line.count("|") for line in lines}) == 1
    assert len(lines) == 4
    assert "0.500" in lines[3]


def test_the_fifty_are_fifty_and_one_that_was_renamed() -> None:
    assert len(set(names_of(FIFTY))) == FEW + 1
