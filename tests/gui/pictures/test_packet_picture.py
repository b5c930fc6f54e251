# SPDX-License-Identifier: MIT
"""The annotated picture."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from PySide6.QtCore import QRectF, Qt
from PySide6.QtGui import QColor, QImage, QPainter, QPalette
from PySide6.QtWidgets import QApplication, QWidget
from pytestqt.qtbot import QtBot

from skbviewer.gui.base.theme import light_palette
from skbviewer.gui.packets.packet_rows import of_series
from skbviewer.gui.pictures.packet_picture import render_png, render_row
from skbviewer.gui.pictures.path_picture import PathPicture
from skbviewer.records import BadInput, Wait

from ..fake import STYLES, FakeRecording


def colours_in(image: QImage) -> dict[str, int]:
    found: dict[str, int] = {}
    for y in range(0, image.height(), 2):
        for x in range(0, image.width(), 2):
            name = image.pixelColor(x, y).name()
            found[name] = found.get(name, 0) + 1
    return found


def test_the_picture_has_size_metadata_and_the_layers_colours(qtbot: QtBot, tmp_path: Path) -> None:
    out = tmp_path / "packet.png"
    render_png(FakeRecording(), out, 3, dpi=150)
    image = QImage(str(out))
    assert image.width() == 1600 and image.height() > 900  # the texts are larger, too
    assert image.dotsPerMeterX() == round(150 / 0.0254)
    assert image.text("Title").startswith("Packet 3: 10.0.0.1 → 10.0.0.2  TCP")
    assert "SHA-256 " + "1" * 64 in image.text("Source")
    found = colours_in(image)
    for style in STYLES:
        assert found.get(style.colour, 0) > 10, style.name


def test_a_small_size_grows_to_hold_the_table(qtbot: QtBot, tmp_path: Path) -> None:
    out = tmp_path / "packet.png"
    render_png(FakeRecording(), out, 3, size=(1000, 100))
    image = QImage(str(out))
    assert image.width() == 1000
    assert image.height() > 500


def test_a_picture_holds_no_widget_and_no_hint(
    qtbot: QtBot, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    made: list[object] = []
    monkeypatch.setattr(QWidget, "render", lambda *_: made.append("render"))
    monkeypatch.setattr(QWidget, "grab", lambda *_: made.append("grab"))
    before = len(QApplication.allWidgets())
    render_png(FakeRecording(), tmp_path / "packet.png", 3)
    assert not made and len(QApplication.allWidgets()) == before


def test_waits_are_hatched_not_filled(qtbot: QtBot) -> None:
    path = FakeRecording().paths.path(packet=3)
    leg = path.legs[0]
    wait = Wait("softirq", leg.begin_ns, leg.end_ns - leg.begin_ns)
    picture = PathPicture(path._replace(legs=(leg._replace(waits=(wait,)),)), {}, light_palette())
    image = QImage(1000, 600, QImage.Format.Format_RGB32)
    image.fill(QColor("white"))
    painter = QPainter(image)
    painter.setBrush(QColor("black"))  # whatever was painted before
    picture.paint(painter, QRectF(0, 0, 1000, 600))
    painter.end()
    grey = light_palette().color(QPalette.ColorRole.PlaceholderText)
    lines = [sum(image.pixelColor(x, y) == grey for x in range(1000)) for y in range(600)]
    framed = [y for y, count in enumerate(lines) if count > 700]  # the upper and lower edge
    assert framed[-1] - framed[0] > 10
    ground = light_palette().color(QPalette.ColorRole.AlternateBase)
    inside = (framed[0] + framed[-1]) // 2
    assert sum(image.pixelColor(x, inside) == ground for x in range(1000)) > 400


def test_everything_grows_with_the_resolution(qtbot: QtBot, tmp_path: Path) -> None:
    images = []
    for dpi in (96, 192):
        out = tmp_path / f"{dpi}.png"
        size = (1000 * dpi // 96, 900 * dpi // 96)
        render_png(FakeRecording(), out, 3, size=size, dpi=dpi)
        images.append(QImage(str(out)).convertToFormat(QImage.Format.Format_Grayscale8))
    small, large = images
    assert large.size() == small.size() * 2
    shrunk = large.scaled(
        small.size(), mode=Qt.TransformationMode.SmoothTransformation
    ).convertToFormat(QImage.Format.Format_Grayscale8)
    one, other = (
        np.frombuffer(bytes(image.constBits()), np.uint8).astype(int) for image in (small, shrunk)
    )
    # thin lines and letters fall on other pixels; what moves or keeps its size differs far more
    assert np.abs(one - other).mean() < 4


def test_dark_is_dark(qtbot: QtBot, tmp_path: Path) -> None:
    out = tmp_path / "packet.png"
    render_png(FakeRecording(), out, 3, theme="dark")
    assert QColor(QImage(str(out)).pixelColor(2, 2)).lightness() < 60


def test_a_kernel_only_packet_has_a_picture(qtbot: QtBot, tmp_path: Path) -> None:
    recording, out = FakeRecording(), tmp_path / "k.png"
    render_row(recording, of_series(recording.kernel_only(1, 1)[0]), out)
    assert QImage(str(out)).text("Title").startswith("Kernel-only packet K1")


def test_no_such_packet(qtbot: QtBot, tmp_path: Path) -> None:
    with pytest.raises(KeyError):
        render_png(FakeRecording(), tmp_path / "no.png", 61)


def test_a_folder_that_is_not_there(qtbot: QtBot, tmp_path: Path) -> None:
    with pytest.raises(BadInput, match=r"no/out\.png"):
        render_png(FakeRecording(), tmp_path / "no" / "out.png", 3)


def test_no_display_is_needed(tmp_path: Path) -> None:
    hidden = ("DISPLAY", "WAYLAND_DISPLAY", "QT_QPA_PLATFORM")
    environment = {key: value for key, value in os.environ.items() if key not in hidden}
    program = (
        "import sys; from pathlib import Path; from tests.gui.fake import FakeRecording;"
        "from skbviewer.gui.pictures.packet_picture import render_png;"
        "render_png(FakeRecording(), Path(sys.argv[1]), 3)"
    )
    out = tmp_path / "headless.png"
    root = Path(__file__).parents[3]
    done = subprocess.run(
        [sys.executable, "-c", program, str(out)],
        env=environment,
        cwd=root,
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode, done.stdout) == (0, ""), done.stderr
    assert QImage(str(out)).width() == 1600
