# SPDX-License-Identifier: MIT
"""The diagnosis window: findings, evidence that leads to packets, filters, extents, cancelling."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QGuiApplication
from pytestqt.qtbot import QtBot

from skbviewer.analysis.diagnosis import Evidence, packets_filter
from skbviewer.export.diagnosis_text import lines
from skbviewer.gui.dialogs.diagnosis_window import DiagnosisWindow, Extent
from skbviewer.gui.dialogs.time_in_kernel_bars import LENGTHS
from skbviewer.gui.window.main_window import MainWindow
from skbviewer.session import open_files

SAMPLES = Path("resources/samples").absolute()


def open_sample(qtbot: QtBot, name: str) -> MainWindow:
    return opened(qtbot, [SAMPLES / name / f"{name}.{kind}" for kind in ("kbl", "pcap")])


def opened(qtbot: QtBot, files: list[Path]) -> MainWindow:
    window = MainWindow(open_files)
    qtbot.addWidget(window)
    window.show()
    window.opening.open(files)
    qtbot.waitUntil(lambda: window.selection.recording is not None, timeout=60_000)
    return window


def diagnose(main: MainWindow, qtbot: QtBot) -> DiagnosisWindow:
    main.menus.actions["Diagnose"].trigger()
    found = main.findChildren(DiagnosisWindow)[-1]
    qtbot.waitUntil(lambda: found.made is not None, timeout=60_000)
    return found


@pytest.fixture
def drops(qtbot: QtBot) -> Iterator[MainWindow]:
    window = open_sample(qtbot, "drops")
    yield window
    window.close()


@pytest.fixture
def dialog(drops: MainWindow, qtbot: QtBot) -> DiagnosisWindow:
    return diagnose(drops, qtbot)


def column(dialog: DiagnosisWindow, at: int) -> list[str]:
    view = dialog.findings.list
    items = [view.topLevelItem(row) for row in range(view.topLevelItemCount())]
    return [item.text(at) for item in items if item is not None]


def facts(dialog: DiagnosisWindow) -> list[Evidence]:
    finding = dialog.findings.current()
    assert finding is not None
    return list(finding.evidence)


def click(dialog: DiagnosisWindow, at: int) -> None:
    view = dialog.findings.evidence
    item = view.topLevelItem(at)
    assert item is not None
    view.itemClicked.emit(item, 0)


def selected(main: MainWindow) -> int:
    row = main.selection.row
    assert row is not None
    return row.id


def test_findings_in_their_order(dialog: DiagnosisWindow) -> None:
    assert column(dialog, 1) == ["critical"] * 4 + ["warning", "note"]
    assert column(dialog, 2) == ["drop"] * 4 + ["neighbour", "probe-cost"]
    assert column(dialog, 3)[0] == "22"
    assert "NETFILTER_DROP in nf_hook_slow" in dialog.findings.text.text()
    assert "nft list ruleset" in dialog.findings.advice.text()
    assert dialog.head.text() == "Everything: 33 packets with a known time in kernel"
    said = dialog.skipped.toPlainText()
    assert "Could not be judged: conntrack." in said and "kblrecord -f" in said


def test_each_fact_leads_to_its_packet(drops: MainWindow, dialog: DiagnosisWindow) -> None:
    for at, fact in enumerate(facts(dialog)):
        drops.navigation.to_id(1)
        click(dialog, at)
        assert fact.kind in ("event", "packet")
        assert selected(drops) == (fact.id if fact.kind == "packet" else 5 + at)


def test_a_row_that_was_not_captured(drops: MainWindow, dialog: DiagnosisWindow) -> None:
    view = dialog.findings
    view.list.setCurrentIndex(view.list.model().index(1, 0))
    at = next(at for at, fact in enumerate(facts(dialog)) if fact.id == -2)
    click(dialog, at)
    assert selected(drops) == -2
    assert not view.show_packets.isEnabled()  # the filter has no number for K<n>


def test_show_packets(drops: MainWindow, dialog: DiagnosisWindow, qtbot: QtBot) -> None:
    dialog.findings.show_packets.click()
    qtbot.waitUntil(lambda: drops.selection.rows is not None)
    rows = drops.selection.rows
    assert rows is not None
    finding = dialog.findings.current()
    assert finding is not None and rows.tolist() == finding.rows.tolist()
    assert len(rows) == 22
    dialog.extent.setCurrentText(Extent.DISPLAYED.value)
    dialog.again.click()
    qtbot.waitUntil(lambda: dialog.head.text().startswith("Displayed packets (frame.number in"))
    assert column(dialog, 2)[0] == "drop" and column(dialog, 3)[0] == "22"


def test_one_packet(drops: MainWindow, dialog: DiagnosisWindow, qtbot: QtBot) -> None:
    drops.navigation.to_id(6)
    dialog.extent.setCurrentText(Extent.SELECTED.value)
    dialog.extent.activated.emit(0)
    qtbot.waitUntil(lambda: dialog.head.text().startswith("Packet 6: 1 packet"))
    assert column(dialog, 3)[0] == "1"


def test_displayed_packets_that_are_listed_by_number(tmp_path: Path, qtbot: QtBot) -> None:
    """They are judged like the selected packet, although records of others were lost."""
    data = bytearray((SAMPLES / "drops/drops.kbl").read_bytes())
    at = len(data) // 2
    data[at : at + 64] = bytes(byte ^ 0xFF for byte in data[at : at + 64])
    (tmp_path / "damaged.kbl").write_bytes(data)
    main = opened(qtbot, [tmp_path / "damaged.kbl", SAMPLES / "drops/drops.pcap"])
    recording = main.selection.recording
    assert recording is not None
    rows = recording.packets.numbered(1, recording.packets.count())
    number = next(row.number for row in rows if row.kernel_ns is not None)
    main.selection.filter_asked.emit(f"frame.number == {number}", True)
    qtbot.waitUntil(lambda: main.selection.rows is not None)
    dialog = diagnose(main, qtbot)
    assert dialog.head.text().startswith("Displayed packets (frame.number == ")
    assert dialog.made is not None
    assert dialog.made.findings[0].text.startswith("1 packet was dropped")  # not: at least 1
    main.close()


def test_the_visible_range(drops: MainWindow, dialog: DiagnosisWindow, qtbot: QtBot) -> None:
    recording = drops.selection.recording
    assert recording is not None
    times = [row.ts_ns or 0 for row in recording.packets.numbered(1, 15)]
    drops.selection.choose_range((times[3], times[12]))
    dialog.extent.setCurrentText(Extent.VISIBLE.value)
    dialog.again.click()
    qtbot.waitUntil(lambda: dialog.head.text().startswith("Visible range of the timeline: "))
    assert dialog.made is not None and 0 < dialog.made.time.packets < 15


def test_bars_and_text(dialog: DiagnosisWindow) -> None:
    made = dialog.made
    assert made is not None
    rows = [dialog.bars.topLevelItem(at) for at in range(dialog.bars.topLevelItemCount())]
    lengths = [row.data(1, LENGTHS)[0] for row in rows if row is not None]
    assert lengths[0] == 1.0 and lengths == sorted(lengths, reverse=True)
    assert len(lengths) == len(made.time.rows)
    dialog.copy.click()
    assert QGuiApplication.clipboard().text().splitlines() == lines(made)


def test_a_call_is_selected_too(qtbot: QtBot) -> None:
    main = open_sample(qtbot, "bulk")
    dialog = diagnose(main, qtbot)
    kinds = [fact.kind for fact in facts(dialog)]
    click(dialog, kinds.index("leg"))
    assert selected(main) == facts(dialog)[1].id  # the packet that waited longest
    call = facts(dialog)[kinds.index("call")]
    click(dialog, kinds.index("call"))
    path, (leg, at) = main.selection.path, main.selection.call
    assert path is not None and path.legs[leg].calls[at].function in call.text
    main.close_recording()
    assert not dialog.isVisible()  # the window is about the recording that was closed
    qtbot.wait(50)  # the window is deleted
    main.selection.recording_changed.emit(None)
    main.close()


def test_ranges_of_a_filter() -> None:
    assert packets_filter(np.array([-3, 1, 2, 3, 7, 9, 10])) == "frame.number in {1..3, 7, 9..10}"
    assert packets_filter(np.array([-3])) is None
    many = packets_filter(np.arange(1, 10_000, 2))
    assert many is not None and many.count(",") == 1999


def test_the_keyboard_follows_facts(drops: MainWindow, dialog: DiagnosisWindow) -> None:
    view = dialog.findings.evidence
    item = view.topLevelItem(6)
    assert item is not None
    view.setCurrentItem(item)
    view.itemActivated.emit(item, 0)
    assert selected(drops) == 6
    assert item.flags() & Qt.ItemFlag.ItemIsSelectable
