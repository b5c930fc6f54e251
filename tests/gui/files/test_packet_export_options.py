# SPDX-License-Identifier: MIT
"""The export dialog writes packets as the command that it shows does."""

from __future__ import annotations

import shlex
from collections.abc import Iterator
from pathlib import Path

import pytest
from PySide6.QtWidgets import QDialogButtonBox
from pytestqt.qtbot import QtBot

from skbviewer.analysis.timeline.shown_timeline_part import Shown
from skbviewer.cli import main
from skbviewer.gui.files.packet_export_options import NO_LOG, OTHER_FORMAT, PacketOptions
from skbviewer.gui.files.timeline_export import ExportDialog
from skbviewer.session import Session, import_files
from tests.e2e.samples import open_sample
from tests.export.wireshark.points import session_of
from tests.readers import build_retis as retis
from tests.readers.build import ethernet, ipv4, udp, write_pcap


@pytest.fixture(scope="module")
def hidden(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Session]:
    """A recording with packets that only a retis log holds."""
    session = session_of(tmp_path_factory.mktemp("hidden"))
    yield session
    session.close()


def dialog_of(session: Session, qtbot: QtBot, form: str) -> ExportDialog:
    dialog = ExportDialog(session, Shown("cpu"))
    qtbot.addWidget(dialog)
    dialog.form.setCurrentIndex(dialog.form.findData(form))
    dialog.open()
    return dialog


def enabled(options: PacketOptions) -> list[str]:
    names = ("snaplen", "headers", "pseudonyms", "kernel_only", "retis", "key")
    return [name for name in names if getattr(options, name).isEnabled()]


@pytest.mark.parametrize(
    ("form", "names"),
    [
        ("pcapng PACKETS", ["snaplen", "headers", "pseudonyms", "kernel_only", "retis"]),
        ("pcap PACKETS", ["snaplen", "headers", "pseudonyms", "kernel_only"]),
        ("html PACKETS", ["snaplen", "headers", "pseudonyms"]),
        ("parquet PACKETS", ["snaplen", "headers", "pseudonyms"]),
        ("perfetto PACKETS", []),
        ("csv PACKETS", []),
        ("png TIMELINE", []),
    ],
)
def test_each_choice_is_enabled_where_it_applies(
    hidden: Session, qtbot: QtBot, form: str, names: list[str]
) -> None:
    dialog = dialog_of(hidden, qtbot, form)
    assert enabled(dialog.packet_options) == names
    if "retis" not in names:
        assert dialog.packet_options.retis.toolTip() == OTHER_FORMAT
    dialog.close()


def test_packets_of_logs_need_a_log_with_bytes(tmp_path: Path, qtbot: QtBot) -> None:
    session, _ = open_sample("drops", tmp_path)
    dialog = dialog_of(session, qtbot, "pcapng PACKETS")
    options = dialog.packet_options
    assert not options.kernel_only.isEnabled() and options.kernel_only.toolTip() == NO_LOG
    options.kernel_only.setChecked(True)
    assert "--kernel-only" not in dialog.command.text()
    dialog.close()
    session.close()


def test_what_another_format_lacks_is_left_out(hidden: Session, qtbot: QtBot) -> None:
    dialog = dialog_of(hidden, qtbot, "pcapng PACKETS")
    options = dialog.packet_options
    for box in (options.headers, options.pseudonyms, options.kernel_only, options.retis):
        box.setChecked(True)
    options.snaplen.setValue(60)
    words = shlex.split(dialog.command.text())
    assert words[-6:] == [
        "--snaplen", "60", "--no-payload", "--pseudonyms", "--kernel-only", "--retis",
    ]  # fmt: skip
    dialog.form.setCurrentIndex(dialog.form.findData("html PACKETS"))
    words = shlex.split(dialog.command.text())
    assert words[-4:] == ["--snaplen", "60", "--no-payload", "--pseudonyms"]
    dialog.form.setCurrentIndex(dialog.form.findData("perfetto PACKETS"))
    assert "--snaplen" not in dialog.command.text()
    dialog.close()


@pytest.mark.parametrize("retis_blocks", [False, True])
def test_the_dialog_writes_what_its_command_writes(
    hidden: Session, qtbot: QtBot, tmp_path: Path, retis_blocks: bool
) -> None:
    key = tmp_path / "my key"
    key.write_bytes(b"k" * 20)
    dialog = dialog_of(hidden, qtbot, "pcapng PACKETS")
    options = dialog.packet_options
    options.pseudonyms.setChecked(True)
    options.key.setText(str(key))
    options.kernel_only.setChecked(True)
    options.retis.setChecked(retis_blocks)
    options.snaplen.setValue(50)
    out, other = tmp_path / "dialog.pcapng", tmp_path / "command.pcapng"
    words = shlex.split(dialog.command.text())
    dialog.ask_name = lambda *_: (str(out), "")
    dialog.save()
    qtbot.waitUntil(lambda: dialog.made == out, timeout=240_000)
    assert dialog.note.startswith("1 lifetime left out")
    given = {hidden.words()[0]: str(hidden.file), "packets.pcapng": str(other)}
    assert main([given.get(word, word) for word in words[1:]]) == 0
    assert out.read_bytes() == other.read_bytes()


def test_a_log_without_bytes_and_a_short_key_are_one_line(qtbot: QtBot, tmp_path: Path) -> None:
    frame = ethernet(ipv4("10.0.0.1", "10.0.0.2", 17, udp(1, 2)))
    log = retis.write(tmp_path / "retis.data", [retis.startup(), retis.point(9, "f", 9)])
    import_files([log, write_pcap(tmp_path / "a.pcap", [(10**18, frame)])], tmp_path / "s.skbv")
    dialog = dialog_of(Session.open(tmp_path / "s.skbv"), qtbot, "pcapng PACKETS")
    out, key = tmp_path / "out.pcapng", tmp_path / "key"
    dialog.ask_name = lambda *_: (str(out), "")
    options = dialog.packet_options
    options.kernel_only.setChecked(True)
    dialog.save()
    qtbot.waitUntil(lambda: "no log of this recording contains bytes" in dialog.error.text())
    key.write_bytes(b"short")
    options.kernel_only.setChecked(False)
    options.pseudonyms.setChecked(True)
    options.key.setText(str(key))
    qtbot.waitUntil(dialog.buttons.button(QDialogButtonBox.StandardButton.Save).isEnabled)
    dialog.save()
    assert "a key has at least" in dialog.error.text()
    assert dialog.isVisible() and not out.exists()
    dialog.close()
