# SPDX-License-Identifier: MIT
"""The function sequence as a tree."""

from __future__ import annotations

from PySide6.QtCore import QModelIndex, Qt
from PySide6.QtTest import QAbstractItemModelTester, QTest
from pytestqt.qtbot import QtBot

from skbviewer.gui.base import wording
from skbviewer.gui.packet_panes.call_columns import CALL_COLUMNS, COMPENSATED
from skbviewer.gui.packet_panes.call_model import CallModel
from skbviewer.gui.packet_panes.call_tree import CallTree
from skbviewer.records import Captured, PacketPath, PathEvent, Wait

from ..fake import RX, TX, FakeRecording


def path() -> PacketPath:
    return FakeRecording().paths.path(packet=3)


def texts(model: CallModel, index: QModelIndex) -> list[object]:
    return [index.siblingAtColumn(at).data() for at in range(len(CALL_COLUMNS))]


def test_model_keeps_qts_rules() -> None:
    model = CallModel()
    tester = QAbstractItemModelTester(model, QAbstractItemModelTester.FailureReportingMode.Fatal)
    model.show(path())
    model.show(None)
    assert tester.model() is model


def test_legs_hold_their_calls_by_depth() -> None:
    model = CallModel()
    model.show(path())
    assert model.rowCount() == 2
    leg = model.index(0, 0)
    assert leg.data() == "Sending, veth-c, netns 4026532177: 8 functions, 30.0 µs"
    first = model.index(0, 0, leg)
    assert texts(model, first)[:12] == [
        "__ip_queue_xmit", "0.000", "30.000", "10.000", "", "", "", "", "tcp_write_xmit+0x4c", "ip",
        "1", "task",
    ]  # fmt: skip
    assert [model.index(row, 0, model.index(0, 0, first)).data() for row in (0, 1)] == [
        "nf_hook_slow",
        "ip_output",
    ]


def test_every_call_has_a_row_and_knows_its_place() -> None:
    model = CallModel()
    model.show(path())
    for leg, table in enumerate((TX, RX)):
        for call, (name, *_) in enumerate(table):
            index = model.index_of(leg, call)
            assert str(index.data()).startswith(name)
            assert model.call_at(index) == (leg, call)


def test_unfinished_calls_and_drops_stand_out() -> None:
    model = CallModel()
    model.show(path())
    unfinished, drop = model.index_of(1, 4), model.index_of(1, 5)
    assert unfinished.siblingAtColumn(2).data() == "no exit"
    assert "no exit recorded" in unfinished.data()
    assert "drop: NO_SOCKET" in drop.data()
    plain = model.index_of(1, 3)
    assert plain.data(Qt.ItemDataRole.ForegroundRole) is None
    assert drop.data(Qt.ItemDataRole.ForegroundRole) is not None


def test_click_and_keys_choose_calls(qtbot: QtBot) -> None:
    tree = CallTree()
    qtbot.addWidget(tree)
    tree.resize(900, 500)
    with qtbot.waitExposed(tree):
        tree.show()
    tree.show_path(path())
    chosen: list[tuple[int, int]] = []
    tree.call_chosen.connect(lambda leg, call: chosen.append((leg, call)))
    place = tree.visualRect(tree.calls.index_of(0, 3)).center()
    QTest.mouseClick(tree.viewport(), Qt.MouseButton.LeftButton, pos=place)
    QTest.keyClick(tree, Qt.Key.Key_Down)
    assert chosen == [(0, 3), (0, 4)]


def with_events() -> PacketPath:
    """A drop in the last call of leg 1, and a change that no call of the leg holds."""
    shown = path()
    leg = shown.legs[1]
    last = leg.calls[5]
    drop = PathEvent(last.entry_ns + 5, "drop", "drop NO_SOCKET", 5, 1, "softirq", 7, "client",
                     False, ("udp_rcv+0x4", "ip_rcv+0x8"))  # fmt: skip
    neigh = drop._replace(
        ts_ns=leg.begin_ns, event="neigh", text="neigh 10.0.0.2", call=-1, caused=True, stack=()
    )
    quiet = drop._replace(event="free", text="free")
    legs = (shown.legs[0], leg._replace(events=(neigh, drop, quiet)))
    return shown._replace(legs=legs)


def test_events_stand_in_their_calls(qtbot: QtBot) -> None:
    model = CallModel()
    tester = QAbstractItemModelTester(model, QAbstractItemModelTester.FailureReportingMode.Fatal)
    model.show(with_events())
    assert tester.model() is model
    call = model.index_of(1, 5)
    assert str(call.data()).startswith("kfree")
    drop = model.index(model.rowCount(call) - 1, 0, call)
    assert str(drop.data()).startswith("• +") and str(drop.data()).endswith("µs  drop NO_SOCKET")
    assert drop.data(Qt.ItemDataRole.ToolTipRole).splitlines()[1:] == [
        "by udp_rcv+0x4",
        "by ip_rcv+0x8",
    ]
    assert model.call_at(drop) == (1, 5)
    leg = model.index(1, 0)
    texts_ = [str(model.index(row, 0, leg).data()) for row in range(model.rowCount(leg))]
    assert [text for text in texts_ if "neigh" in text] == [
        "• +0.000 µs  this packet caused: neigh 10.0.0.2"
    ]


def test_a_legs_tip_says_where_and_when_the_packet_was_captured(qtbot: QtBot) -> None:
    model, shown = CallModel(), FakeRecording().paths.path(packet=3)
    sent, got = shown.legs
    at = sent.begin_ns
    seen = sent._replace(captured=Captured("veth-c", "out", at + 28_500, at + 29_250, True))
    model.show(shown._replace(legs=(seen, got)))
    tips = [str(model.index(row, 0).data(Qt.ItemDataRole.ToolTipRole)) for row in (0, 1)]
    assert tips[0].splitlines()[2:] == ["Captured as veth-c sent it, +28.500 µs to +29.250 µs"]
    assert len(tips[1].splitlines()) == 2


def test_an_events_row_stays_chosen_when_its_call_is_shown(qtbot: QtBot) -> None:
    tree = CallTree()
    qtbot.addWidget(tree)
    tree.show_path(with_events())
    call = tree.calls.index_of(1, 5)
    drop = tree.calls.index(tree.calls.rowCount(call) - 1, 0, call)
    tree.setCurrentIndex(drop)
    tree.show_call(1, 5)
    assert tree.currentIndex() == drop
    tree.show_call(1, 4)
    assert tree.currentIndex() == tree.calls.index_of(1, 4)


def test_compensated_times_have_a_column_where_they_are_known(qtbot: QtBot) -> None:
    tree = CallTree()
    qtbot.addWidget(tree)
    tree.show_path(path())
    assert tree.isColumnHidden(COMPENSATED)
    shown = path()
    calls = tuple(call._replace(comp_ns=1234) for call in shown.legs[0].calls)
    tree.show_path(shown._replace(legs=(shown.legs[0]._replace(calls=calls),)))
    assert not tree.isColumnHidden(COMPENSATED)
    assert tree.calls.index_of(0, 0).siblingAtColumn(COMPENSATED).data() == "1.234"


def with_wait_and_branch() -> PacketPath:
    whole = path()
    sending, receiving = whole.legs
    wait = Wait("socket queue", receiving.calls[4].entry_ns - 500, 400)
    receiving = receiving._replace(waits=(wait,))
    branch = sending._replace(series=99, relation="clone", calls=sending.calls[:2], functions=2)
    return whole._replace(legs=(sending, receiving), branches=(branch,))


def test_a_wait_is_a_row_before_the_call_that_ends_it() -> None:
    model = CallModel()
    QAbstractItemModelTester(model, QAbstractItemModelTester.FailureReportingMode.Fatal)
    model.show(with_wait_and_branch())
    call = model.index_of(1, 4)
    wait = model.index(call.row() - 1, 0, call.parent())
    assert wait.data() == "… +2.500 µs  waited 400 ns in the socket queue"
    assert model.function_at(wait) == ""
    assert model.call_at(wait) == (1, -1)


def test_a_branch_stands_behind_the_legs_and_chooses_no_call() -> None:
    model = CallModel()
    model.show(with_wait_and_branch())
    assert model.rowCount() == 3
    branch = model.index(2, 0)
    assert str(branch.data()).startswith("Clone or segment, lifetime 99: Sending, veth-c")
    call = model.index(0, 0, branch)
    assert model.function_at(call) == "__ip_queue_xmit"
    assert model.call_at(call) == (-1, -1)


def test_branches_are_folded_up(qtbot: QtBot) -> None:
    tree = CallTree()
    qtbot.addWidget(tree)
    tree.show_path(with_wait_and_branch())
    assert [tree.isExpanded(tree.calls.index(row, 0)) for row in range(3)] == [True, True, False]


def test_columns_are_hidden_and_shown_by_the_header_menu_and_stay_so(qtbot: QtBot) -> None:
    tree = CallTree()
    qtbot.addWidget(tree)
    tree.show_path(path())
    titles = [column.title for column in CALL_COLUMNS]
    device, caller = titles.index("Device"), titles.index("Caller")
    assert tree.isColumnHidden(device) and not tree.isColumnHidden(caller)
    for action in tree.columns_menu().actions():
        if action.text() in ("Device", "Caller"):
            action.trigger()
    assert not tree.isColumnHidden(device) and tree.isColumnHidden(caller)
    again = CallTree()
    qtbot.addWidget(again)
    again.show_path(path())
    assert not again.isColumnHidden(device) and again.isColumnHidden(caller)
    assert again.isColumnHidden(titles.index("Count"))  # the recording has no counter


def test_a_double_click_asks_for_the_source(qtbot: QtBot) -> None:
    tree = CallTree()
    qtbot.addWidget(tree)
    tree.show_path(path())
    tree.resize(900, 400)
    tree.show()
    place = tree.visualRect(tree.calls.index_of(0, 3)).center()
    QTest.mouseClick(
        tree.viewport(), Qt.MouseButton.LeftButton, Qt.KeyboardModifier.NoModifier, place
    )
    with qtbot.waitSignal(tree.source_asked) as asked:
        QTest.mouseDClick(
            tree.viewport(), Qt.MouseButton.LeftButton, Qt.KeyboardModifier.NoModifier, place
        )
    assert asked.args == ["ip_output"]


def test_times_before_the_first_call_have_one_sign() -> None:
    call = path().legs[0].calls[1]
    details = dict(wording.call_details(call, call.entry_ns + 829))
    assert details["Entry"] == "-0.829 µs since the first leg began"
    assert dict(wording.call_details(call, call.entry_ns - 7_250))["Entry"].startswith("+7.250 µs ")
    event = PathEvent(call.entry_ns, "drop", "drop", 0, 0, "task", 1, "x", False, ())
    assert wording.event_title(event, call.entry_ns + 829).startswith("• -0.829 µs")


def test_calls_in_order_of_time_stand_one_behind_the_other() -> None:
    model = CallModel()
    model.by_time = True
    QAbstractItemModelTester(model, QAbstractItemModelTester.FailureReportingMode.Fatal)
    model.show(with_wait_and_branch())
    leg = model.index_of(1, -1)
    rows = [model.index(row, 0, leg) for row in range(model.rowCount(leg))]
    assert all(model.rowCount(row) == 0 for row in rows)
    entries = [call.entry_ns for row in rows if (call := model.call_of_row(row)) is not None]
    assert entries == sorted(entries) and len(entries) > 3
    texts = [str(row.data()) for row in rows]
    assert sum(text.startswith("… ") for text in texts) == 1


def test_a_merged_packet_says_which_it_is_and_leads_there(qtbot: QtBot) -> None:
    tree = CallTree()
    qtbot.addWidget(tree)
    shown = with_wait_and_branch()
    (branch, *others) = shown.branches
    branch = branch._replace(match="exact", reason="Only one.", packet=25, row="25")
    tree.show_path(shown._replace(branches=(branch, *others)))
    title = tree.calls.index(len(shown.legs), 0)
    assert ", packet 25: " in title.data()
    assert "Exact match: Only one." in title.data(Qt.ItemDataRole.ToolTipRole)
    with qtbot.waitSignal(tree.row_asked) as asked:
        tree.activated.emit(title)
    assert asked.args == [25]
