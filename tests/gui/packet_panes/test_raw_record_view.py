# SPDX-License-Identifier: MIT
"""The raw records of the chosen call of a real recording."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from pytestqt.qtbot import QtBot

from skbviewer.gui.packet_panes.raw_record_view import NO_CALL, RawView
from skbviewer.gui.packets.packet_rows import of_packet
from skbviewer.gui.packets.selection import Selection
from skbviewer.records import resource
from skbviewer.session import Session, import_files


@pytest.fixture
def session(tmp_path: Path) -> Iterator[Session]:
    log = tmp_path / "handshake.kbl"
    log.write_bytes(resource("samples/handshake/handshake.kbl").read_bytes())
    import_files([log, resource("samples/handshake/handshake.pcap")], tmp_path / "s.skbv")
    opened = Session.open(tmp_path / "s.skbv")
    yield opened
    opened.close()


@pytest.fixture
def selection(session: Session) -> Selection:
    made = Selection()
    made.use(session)
    made.choose_row(of_packet(session.packets.numbered(3, 1)[0]))
    return made


@pytest.fixture
def view(selection: Selection, qtbot: QtBot) -> Iterator[RawView]:
    made = RawView(selection)
    qtbot.addWidget(made)
    made.resize(600, 500)
    made.show()
    yield made
    made.close_tasks()


def fields(view: RawView) -> dict[str, str]:
    found = {}
    for n in range(view.tree.topLevelItemCount()):
        slot = view.tree.topLevelItem(n)
        assert slot is not None
        for k in range(slot.childCount()):
            child = slot.child(k)
            assert child is not None
            name, value = child.text(0).split(": ", 1)
            found[name] = value
    return found


def test_the_records_of_the_chosen_call(
    view: RawView, selection: Selection, session: Session, qtbot: QtBot
) -> None:
    assert view.bytes.accessibleDescription() == NO_CALL
    path = selection.path
    assert path is not None
    for leg, call in ((0, 5), (1, 3)):
        selection.choose_call(leg, call)
        wanted = path.legs[leg].calls[call]
        begin = str(wanted.entry_ns)
        qtbot.waitUntil(lambda: fields(view).get("ts") == begin)  # noqa: B023 - ends in the loop
        shown = fields(view)
        assert shown["skb"] == f"0x{wanted.skb:x}"
        assert int(shown["dur"]) == wanted.dur_ns
        last = view.tree.topLevelItem(view.tree.topLevelItemCount() - 1)
        assert last is not None and last.text(0).startswith(("CALL, record", "EXT"))


def test_a_recording_that_is_gone_is_said(
    view: RawView, selection: Selection, session: Session, qtbot: QtBot
) -> None:
    Path(session.sources()[0].path).unlink()
    selection.choose_call(0, 2)
    qtbot.waitUntil(lambda: "was moved or changed" in view.bytes.accessibleDescription())
