# SPDX-License-Identifier: MIT
"""Colouring rules: Wireshark's defaults on real packets, edited, kept."""

from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QColor
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QColorDialog, QDialogButtonBox
from pytestqt.qtbot import QtBot

from skbviewer.analysis.display_filter import parse
from skbviewer.gui.dialogs.colouring_rules import PAUSE_MS
from skbviewer.gui.dialogs.colouring_rules_dialog import ColourDialog
from skbviewer.gui.packets.colour_rules import DEFAULTS, Rule, colours, store, stored_rules
from skbviewer.gui.packets.packet_model import PacketModel
from skbviewer.gui.window.main_window import MainWindow
from skbviewer.records import Progress, resource
from skbviewer.session import Session, import_files

OK = QDialogButtonBox.StandardButton.Ok


@pytest.fixture(scope="module")
def session(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Session]:
    out = tmp_path_factory.mktemp("colours") / "s.skbv"
    folder = resource("samples/drops")
    import_files([folder / "drops.kbl", folder / "drops.pcap"], out)
    opened = Session.open(out)
    yield opened
    opened.close()


def ground(model: PacketModel, row: int) -> str | None:
    brush = model.index(row, 0).data(Qt.ItemDataRole.BackgroundRole)
    return None if brush is None else str(brush.color().name())


def test_every_default_is_a_filter_and_differs_from_the_others() -> None:
    assert all(parse(rule.text) is not None for rule in DEFAULTS)
    assert len({rule.name for rule in DEFAULTS}) == len(DEFAULTS)


def test_the_first_rule_that_fits_colours_real_packets(session: Session) -> None:
    model = PacketModel()
    model.show(session)
    assert ground(model, 0) is None
    model.set_rules(DEFAULTS)
    by_name = {rule.name: rule.background for rule in DEFAULTS}
    seen = set()
    for row in range(session.packets.count()):
        packet = session.packets.numbered(row + 1, 1)[0]
        if packet.protocol_name == "UDP":
            assert ground(model, row) == by_name["UDP"]
        elif "[RST" in packet.info:
            assert ground(model, row) in (by_name["TCP RST"], by_name["Bad TCP"])
        elif "[SYN" in packet.info:
            assert ground(model, row) in (by_name["TCP SYN/FIN"], by_name["Bad TCP"])
        elif packet.protocol_name == "ARP":
            assert ground(model, row) == by_name["ARP"]
        seen.add(packet.protocol_name)
    assert {"UDP", "TCP", "ARP"} <= seen


def test_kernel_only_rows_are_coloured_too(session: Session) -> None:
    ids = session.packets.listed("", None, True)
    model = PacketModel()
    model.show(session, ids)
    model.set_rules([Rule("all", "kbl.skb", "#010203", "#ffffff")])
    assert ids is not None and (ids < 0).any()
    rows = [row for row in range(len(ids)) if ids[row] < 0]
    assert {ground(model, row) for row in rows} == {"#010203"}


def test_rules_that_are_off_do_not_count(session: Session) -> None:
    model = PacketModel()
    model.show(session)
    model.set_rules([Rule("off", "arp", "#010203", "#ffffff", False)])
    assert ground(model, 0) is None


@pytest.mark.parametrize("rule", DEFAULTS)
def test_dark_rows_stay_readable(rule: Rule) -> None:
    shown = colours(rule, True)
    assert abs(shown.background.lightness() - shown.text.lightness()) > 90
    assert shown.background.lightness() < 140


def test_rules_are_kept_and_broken_settings_do_no_harm() -> None:
    mine = (Rule("mine", "udp.port == 53", "#112233", "#ffffff", False), *DEFAULTS[:2])
    store(mine)
    assert stored_rules() == mine
    store(DEFAULTS)
    assert stored_rules() == DEFAULTS


def test_the_dialog_edits(
    opened: MainWindow, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch
) -> None:
    opened.menus.actions["Coloring Rules"].trigger()
    (dialog,) = opened.findChildren(ColourDialog)
    dialog.add()
    assert not dialog.buttons.button(OK).isEnabled()
    item = dialog.list.currentItem()
    assert item is not None
    item.setText(0, "Mine")
    item.setText(1, "tcp.prot == 7")
    assert "tcp.port" in dialog.note.text() and not dialog.buttons.button(OK).isEnabled()
    item.setText(1, "tcp")
    assert dialog.buttons.button(OK).isEnabled()
    monkeypatch.setattr(QColorDialog, "getColor", lambda *_: QColor("#123456"))
    dialog._ask_colour(True)
    dialog.move_by(1)
    dialog.move_by(-1)
    QTest.mouseClick(dialog.buttons.button(OK), Qt.MouseButton.LeftButton)
    assert stored_rules()[0] == Rule("Mine", "tcp", "#123456", "#12272e")
    packets = opened.workspace.table.packets
    tcp = next(
        n for n in range(packets.rowCount()) if (r := packets.row(n)) and r.protocol == "TCP"
    )
    assert ground(packets, tcp) == "#123456"
    opened.menus.actions["Colorize Packet List"].trigger()
    assert ground(packets, tcp) is None


def test_remove_and_defaults(qtbot: QtBot) -> None:
    dialog = ColourDialog(DEFAULTS)
    qtbot.addWidget(dialog)
    top = dialog.list.topLevelItem(0)
    assert top is not None
    dialog.list.setCurrentItem(top)
    dialog.remove()
    assert dialog.rules() == DEFAULTS[1:]
    dialog.buttons.button(QDialogButtonBox.StandardButton.RestoreDefaults).click()
    assert dialog.rules() == DEFAULTS


def test_a_tick_is_seen_whatever_the_colours_of_its_rule(qtbot: QtBot) -> None:
    rules = [Rule(str(on), "tcp", "#ffffff", "#ffffff", on) for on in (True, False)]
    dialog = ColourDialog(rules)
    qtbot.addWidget(dialog)
    dialog.show()
    boxes = []
    for row in range(2):
        item = dialog.list.topLevelItem(row)
        assert item is not None
        cell = dialog.list.visualItemRect(item)
        cell.setWidth(cell.height() + 4)
        boxes.append(dialog.list.viewport().grab(cell).toImage())
    darkest = [
        min(box.pixelColor(x, y).lightness() for x in range(4, 14) for y in range(2, 12))
        for box in boxes
    ]
    assert darkest[0] < 100 < darkest[1]


def test_a_large_recording_gets_slow_rules_later(
    opened: MainWindow, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(opened.recording, "streams_followed", lambda: False)
    seen: list[int] = []
    packets = opened.workspace.table.packets
    monkeypatch.setattr(packets, "set_rules", lambda rules: seen.append(len(rules)))
    opened.colouring.use(opened.recording)
    qtbot.waitUntil(lambda: len(seen) == 2)
    assert seen == [len(DEFAULTS) - 1, len(DEFAULTS)]
    qtbot.waitUntil(lambda: not opened.colouring.busy)


def test_statistics_of_a_large_recording_are_prepared_after_its_streams(
    opened: MainWindow, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch
) -> None:
    steps: list[str] = []
    monkeypatch.setattr(opened.recording, "streams_followed", lambda: False)
    monkeypatch.setattr(opened.recording, "follow_streams", lambda _: steps.append("followed"))
    monkeypatch.setattr(opened.recording, "prepare", lambda _: steps.append("prepared"))
    opened.colouring.use(opened.recording)
    qtbot.waitUntil(lambda: steps == ["followed", "prepared"])
    qtbot.waitUntil(lambda: not opened.colouring.busy)


def test_slow_rules_wait_while_the_user_goes_about(
    opened: MainWindow, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(opened.recording, "streams_followed", lambda: False)
    started: list[str] = []
    opened.colouring.tasks.started.connect(started.append)
    opened.colouring.use(opened.recording)
    for row in (1, 2, 3):
        qtbot.wait(PAUSE_MS // 2)
        opened.workspace.table.go_to_row(row)
        assert opened.colouring.busy and not started
    qtbot.waitUntil(lambda: started[:1] == [""])
    qtbot.waitUntil(lambda: not opened.colouring.busy)


def test_streams_are_followed_after_the_filter_that_the_user_waits_for(
    opened: MainWindow, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch
) -> None:
    steps: list[str] = []

    def follow(progress: Progress) -> None:
        steps.append("begin")
        while "filtered" not in steps:
            progress.report("", 0, 1)  # raises Cancelled
            time.sleep(0.001)
        steps.append("followed")

    monkeypatch.setattr(opened.recording, "streams_followed", lambda: False)
    monkeypatch.setattr(opened.recording, "follow_streams", follow)
    opened.colouring.use(opened.recording)
    qtbot.waitUntil(lambda: steps == ["begin"])
    opened.row_query.shown.connect(lambda _: steps.append("filtered"))
    opened.row_query.set_filter("tcp")
    assert opened.colouring.busy and not opened.colouring.tasks.busy
    qtbot.waitUntil(lambda: not opened.colouring.busy)
    assert steps == ["begin", "filtered", "begin", "followed"]


def test_streams_are_followed_after_the_lanes_that_the_user_waits_for(
    opened: MainWindow, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Both together would take much memory.  Lanes of packets take little."""
    steps: list[str] = []

    def follow(progress: Progress) -> None:
        steps.append("begin")
        while "lanes" not in steps:
            progress.report("", 0, 1)  # raises Cancelled
            time.sleep(0.001)
        steps.append("followed")

    qtbot.waitUntil(lambda: not opened.workspace.timeline.loader.busy)
    monkeypatch.setattr(opened.recording, "streams_followed", lambda: False)
    monkeypatch.setattr(opened.recording, "follow_streams", follow)
    opened.colouring.use(opened.recording)
    qtbot.waitUntil(lambda: steps == ["begin"])
    opened.workspace.timeline.loader.timeline_ready.connect(lambda _: steps.append("lanes"))
    opened.workspace.timeline.loader.lanes("packet", (1,))
    assert bool(opened.colouring.tasks.busy)
    opened.workspace.timeline.loader.lanes("cpu", ())
    assert opened.colouring.busy and not opened.colouring.tasks.busy
    qtbot.waitUntil(lambda: not opened.colouring.busy)
    assert steps == ["begin", "lanes", "begin", "followed"]


def test_the_defaults_are_wiresharks_by_name_and_colour() -> None:
    """Against the colorfilters of tshark's package, which is older by name only."""
    shipped = Path("/usr/share/wireshark/colorfilters")
    assert shipped.is_file(), "tests/packages.txt: tshark"
    ours = {RENAMED.get(rule.name, rule.name): rule for rule in DEFAULTS}
    for line in shipped.read_text(encoding="utf-8").splitlines():
        if not line.startswith("@"):
            continue
        _, name, _, numbers = line.split("@")
        if name == "System Event":
            continue
        rule = ours[" ".join(name.split())]
        wanted = [
            "#" + "".join(f"{int(number) >> 8:02x}" for number in part.split(","))
            for part in numbers.strip("[]").split("][")
        ]
        assert [rule.background, rule.foreground] == wanted, name


RENAMED = {"IPv4 TTL low or unexpected": "TTL low or unexpected"}
