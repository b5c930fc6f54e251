# SPDX-License-Identifier: MIT
"""Test what a click on a timeline box selects, and the text of the strip for a drop."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from pytestqt.qtbot import QtBot

from skbviewer.export.formats import packet_path
from skbviewer.gui.base.wording import duration
from skbviewer.gui.packets.packet_rows import of_packet, of_series
from skbviewer.gui.packets.selected_packet_summary import drop_text, totals
from skbviewer.gui.packets.selection import Selection
from skbviewer.gui.timeline.selection_links import choose_place
from skbviewer.records import SeriesRow, resource
from skbviewer.session import Session, import_files


@pytest.fixture(scope="module")
def session(tmp_path_factory: pytest.TempPathFactory) -> Session:
    out: Path = tmp_path_factory.mktemp("drops") / "drops.skbv"
    import_files([resource(f"samples/drops/drops.{end}") for end in ("pcap", "kbl")], out)
    return Session.open(out)


def test_a_click_on_a_kernel_only_packet_selects_it(session: Session, qtbot: QtBot) -> None:
    (series,) = np.flatnonzero(session.columns.array("series", "kernel_only") == 1)
    (leg, *_) = np.flatnonzero(session.columns.array("leg", "series") == series + 1)
    (call, *_) = np.flatnonzero(session.columns.array("call", "leg") == leg + 1)
    selection = Selection()
    selection.use(session)
    choose_place(selection, session.paths.call_place(int(call) + 1))
    assert selection.row is not None and selection.row.number == "K1"
    assert selection.call == (0, 0)


def test_the_strip_shows_the_drop_and_where_the_time_went(session: Session) -> None:
    packet = session.packets.numbered(7, 1)[0]
    assert drop_text(of_packet(packet)) == "Dropped: NETFILTER_DROP at nf_hook_slow+0xaa"
    assert totals(session.paths.path(packet=7)).startswith(
        "71.1 µs in the kernel (70.0 µs busy, 1.2 µs waiting), 54 functions"
    )
    assert drop_text(of_packet(session.packets.numbered(4, 1)[0])) == ""  # only a copy


def test_the_strip_has_the_times_of_the_list_for_each_kernel_only_packet(
    tmp_path: Path, qtbot: QtBot
) -> None:
    """Their legs overlap, so their times in kernel add up to more."""
    import_files([resource("samples/nat/nat.kbl")], tmp_path / "nat.skbv")
    alone = Session.open(tmp_path / "nat.skbv")
    ids = -np.arange(1, alone.packets.kernel_only_count() + 1)
    overlapping = 0
    for row in alone.packets.rows(ids):
        assert isinstance(row, SeriesRow) and row.kernel_ns is not None
        found = packet_path(alone, -int(row.number[1:]))
        text = totals(found, of_series(row))
        times = f"{duration(row.kernel_ns)} in the kernel ({duration(row.busy_ns)} busy"
        assert text.startswith(times), (row.number, text)
        overlapping += sum(leg.kernel_ns or 0 for leg in found.legs) > row.kernel_ns
    assert overlapping > 10
