# SPDX-License-Identifier: MIT
"""Test which header of an skb lifetime its row shows."""

from __future__ import annotations

from pathlib import Path

from skbviewer.analysis.ingest.skb_lifetime_summary import series_summary
from skbviewer.matching import build_legs, build_series
from tests.matching.story import HOST, Story, udp4

A = 0xFFFF888000001000
WHOLE, PART = udp4(7, size=2000), udp4(8, size=1000)


def shown(story: Story, folder: Path) -> list[tuple[int, int, bool]]:
    """(ip_id, tot_len, is_ip) of each series."""
    log = story.log(folder)
    series = build_series(log)
    summary = series_summary(log.records, series, build_legs(log, series))
    columns = summary.columns(slice(None))
    return list(
        zip(columns["ip_id"].tolist(), columns["tot_len"].tolist(), summary.is_ip, strict=True)
    )


def test_a_segment_is_shown_by_its_own_header(tmp_path: Path) -> None:
    story = Story()
    story.alloc(100, A)
    story.call("skb_zerocopy_clone", 120, 130, A, skbinfo=HOST._replace(len=42), ipv4=WHOLE)
    story.call("dev_hard_start_xmit", 200, 210, A, skbinfo=HOST._replace(len=1042), ipv4=PART)
    assert shown(story, tmp_path) == [(8, 1028, True)]


def test_a_larger_packets_header_is_better_than_none(tmp_path: Path) -> None:
    story = Story()
    story.alloc(100, A)
    story.call("skb_release_data", 120, 130, A, skbinfo=HOST._replace(len=42), ipv4=WHOLE)
    assert shown(story, tmp_path) == [(7, 2028, True)]
