# SPDX-License-Identifier: MIT
"""Lost records are stated, passes that may lack some are left out, and numbers are marked."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from skbviewer.analysis.comparison.function_estimates import CALLS
from skbviewer.analysis.comparison.leg_estimates import IN_KERNEL
from skbviewer.export.comparison_text import comparison_lines
from skbviewer.session import Session, import_files
from skbviewer.session.session_comparison import comparison_of
from tests.matching.story import HOST, SOFTIRQ, Story, udp4

SKB, PACKETS = 0xFFFF888000001000, 80


def session_of(folder: Path, lossy: bool) -> Session:
    """Packets are received one by one; records are lost during every eighth."""
    story = Story()
    for number in range(PACKETS):
        at, skb = 1_000_000 * (number + 1), SKB + 0x1000 * number
        footprint: dict[str, Any] = {"ipv4": udp4(number + 1), "skbinfo": HOST}
        story.alloc(at - 100, skb, context=SOFTIRQ)
        story.call("__netif_receive_skb", at, at + 900, skb, context=SOFTIRQ, **footprint)
        if lossy and number % 8 == 0:
            story.lost(at + 600, 3, at + 500)
        story.call("ip_rcv", at + 100, at + 400, skb, context=SOFTIRQ)
        story.free(at + 950, skb, context=SOFTIRQ)
    story.log(folder)
    out = folder / "story.skbv"
    import_files([folder / "story.kbl"], out)
    return Session.open(out)


def test_losses(tmp_path: Path) -> None:
    sessions = []
    for name, lossy in (("whole", False), ("lossy", True)):
        (tmp_path / name).mkdir()
        sessions.append(session_of(tmp_path / name, lossy))
    found = comparison_of(sessions[0], sessions[1])
    (condition,) = found.conditions
    assert (condition.what, condition.a, condition.b) == ("lost", "0 records", "30 records")
    assert condition.spoils
    assert [amount.left_out for amount in found.amounts] == [0, PACKETS // 8]
    rows = {(row.measure, row.name): row for row in found.rows}
    received = rows[IN_KERNEL, "received packets"]
    assert (received.number_a, received.number_b, received.lossy) == (
        PACKETS,
        PACKETS * 7 // 8,
        True,
    )
    assert rows[CALLS[1], "ip_rcv"].lossy
    lines = list(comparison_lines(found, ("a", "b"), True))
    assert any(line.startswith("! lost: A 0 records | B 30 records.") for line in lines)
    assert any(line.startswith("received packets, time in kernel *") for line in lines)
    itself = comparison_of(sessions[0], sessions[0])
    assert not any(row.lossy for row in itself.rows)
    for session in sessions:
        session.close()
