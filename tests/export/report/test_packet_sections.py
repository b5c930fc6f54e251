# SPDX-License-Identifier: MIT
"""The list of packets in a report: its times count from packet 1, whatever is chosen."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from skbviewer.export import Request
from skbviewer.export.report.packet_sections import packet_list
from skbviewer.export.report.report_contents import facts_of
from skbviewer.records import PacketRow
from tests.e2e.samples import open_sample


@pytest.mark.parametrize("text", ["", "frame.number > 3", 'kbl.verdict == "kernel-only"'])
def test_times_are_those_of_the_packet_list(text: str, tmp_path: Path) -> None:
    session = open_sample("drops", tmp_path)[0]
    facts = facts_of(session, Request(filter=text))
    page = str(packet_list(facts))
    shown = re.findall(r">(-?\d+\.\d{9})<", page)
    listed = session.packets.listed(text, None, True)
    assert listed is not None
    rows = session.packets.rows(listed)
    first = session.packets.numbered(1, 1)[0].ts_ns
    assert first is not None
    times = [row.ts_ns if isinstance(row, PacketRow) else row.time_ns for row in rows]
    expected = {time - first for time in times if time is not None}
    assert {int(one.replace(".", "")) for one in shown} == expected
    assert facts.packets == len(rows)
    session.close()
