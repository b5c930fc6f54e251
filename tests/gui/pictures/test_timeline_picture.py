# SPDX-License-Identifier: MIT
"""Pictures of the timeline: what they hold, and that the same is the same to the byte."""

from __future__ import annotations

import csv
import os
import re
import subprocess
import sys
from contextlib import closing
from html import unescape
from pathlib import Path
from typing import Any

import pytest
from PySide6.QtGui import QFontMetricsF, QImage
from PySide6.QtSvg import QSvgRenderer
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from skbviewer.analysis.timeline.shown_timeline_part import (
    Shown,
    command_of,
    rows_of,
    rows_text,
    seconds_of,
    seconds_text,
)
from skbviewer.export import Request
from skbviewer.gui.pictures.line_wrapping import wrapped_lines
from skbviewer.gui.pictures.picture_font import export_font
from skbviewer.gui.pictures.text_width import text_width
from skbviewer.gui.pictures.timeline_box_table import write_timeline_table
from skbviewer.gui.pictures.timeline_picture import TimelinePicture, write_timeline
from skbviewer.gui.timeline.lane_painter import title_lines
from skbviewer.gui.timeline.time_axis import round_step
from skbviewer.records import Annotation, BadInput, resource
from skbviewer.session import Session, import_files

from ..fake import T0, FakeRecording
from .test_packet_picture import colours_in

MS = 1_000_000


def recording() -> FakeRecording:
    made = FakeRecording()
    t0 = made.overview().t0_ns
    made.notes.keep(made.range_note("here it waits", (t0 + 2 * MS, t0 + 3 * MS)))
    return made


def shown(lanes: str = "cpu", **more: object) -> Shown:
    t0 = FakeRecording().overview().t0_ns
    base = Shown(lanes, range=(t0, t0 + 5 * MS), a=t0 + MS, b=t0 + 2 * MS + 345)
    return base._replace(**more)  # type: ignore[arg-type]  # fields of Shown


@pytest.mark.parametrize(("height", "named"), [(900, 0), (1900, 1)])
def test_a_wait_is_named_where_that_can_be_read(
    qtbot: QtBot, tmp_path: Path, height: int, named: int
) -> None:
    """Rows of 7 pixels have no room for words, and a word must not lie below a box."""
    out, sample, file = tmp_path / "t.svg", resource("samples/drops"), tmp_path / "s.skbv"
    import_files([sample / "drops.pcap", sample / "drops.kbl"], file)
    with closing(Session(file)) as session:
        ids = session.export.lane_ids("udp.dstport == 9 || udp.dstport == 1009", None)
        write_timeline(session, Shown("aligned", ids, size=(1500, height)), out, "svg")
    texts = re.findall(r"<text[^>]*>([^<]*)</text>", out.read_text())
    assert texts.count("other packets") == named
    assert texts.count("waiting") == 1  # the legend


def test_a_png_has_its_size_resolution_and_words(qtbot: QtBot, tmp_path: Path) -> None:
    out = tmp_path / "t.png"
    write_timeline(recording(), shown(size=(1200, 800), dpi=150, filter="tcp"), out, "png")
    image = QImage(str(out))
    assert (image.width(), image.height()) == (1200, 800)
    assert image.dotsPerMeterX() == round(150 / 0.0254)
    assert image.text("Filter") == "tcp"
    assert "SHA-256 " + "1" * 64 in image.text("Source")
    words = image.text("Command")
    assert "--lanes cpu" in words
    assert "--dpi 150" in words
    assert "--range=0,0.005 --markers=0.001,0.002000345" in words


def test_the_picture_names_filter_difference_notes_and_sources(qtbot: QtBot) -> None:
    picture = TimelinePicture(recording(), shown(filter="ip.src == 10.0.0.1"), "png")
    words = "\n".join(picture.lines())
    for part in ("Filter: ip.src == 10.0.0.1", "B − A = +1,000.345 µs", "here it waits", "1" * 64):
        assert part in words
    assert {name for name, _ in picture.legend()} >= {"ip", "driver", "wire"}


def test_a_note_out_of_the_range_is_left_out(qtbot: QtBot) -> None:
    t0 = FakeRecording().overview().t0_ns
    picture = TimelinePicture(recording(), shown(range=(t0 + 4 * MS, t0 + 5 * MS)), "png")
    assert "here it waits" not in "\n".join(picture.lines())


def test_boxes_are_painted_in_the_layers_colours_on_a_light_ground(
    qtbot: QtBot, tmp_path: Path
) -> None:
    out = tmp_path / "t.png"
    write_timeline(FakeRecording(), Shown("packet", (3,)), out, "png")
    found = colours_in(QImage(str(out)))
    assert found["#ffffff"] > 1000
    for colour in ("#009e73", "#0072b2", "#7a4a1d"):
        assert found.get(colour, 0) > 50


@pytest.mark.parametrize("form", ["png", "svg"])
def test_the_same_gives_the_same_bytes_in_another_process(form: str, tmp_path: Path) -> None:
    program = (
        "import sys; from pathlib import Path;"
        "from tests.gui.pictures.test_timeline_picture import recording, shown;"
        "from skbviewer.gui.pictures.timeline_picture import write_timeline;"
        f"write_timeline(recording(), shown(), Path(sys.argv[1]), {form!r})"
    )
    environment = {k: v for k, v in os.environ.items() if k not in ("DISPLAY", "WAYLAND_DISPLAY")}
    made = []
    for name in ("one", "two"):
        out = tmp_path / name
        subprocess.run([sys.executable, "-c", program, str(out)], check=True, env=environment)
        made.append(out.read_bytes())
    assert made[0] == made[1]
    assert len(made[0]) > 1000


def test_an_svg_is_a_picture_with_texts(qtbot: QtBot, tmp_path: Path) -> None:
    out = tmp_path / "t.svg"
    write_timeline(FakeRecording(), Shown("packet", (3,), size=(1600, 600)), out, "svg")
    assert QSvgRenderer(str(out)).isValid()
    text = out.read_text()
    assert "veth_xmit" in text
    assert "DejaVu Sans" in text


def texts_of(out: Path) -> list[str]:
    """What an SVG says, piece by piece, in the order of painting."""
    return re.findall(r"<text[^>]*>(.*?)</text>", out.read_text(), re.DOTALL)


def test_the_command_is_whole_in_a_narrow_picture(qtbot: QtBot, tmp_path: Path) -> None:
    out, what = tmp_path / "t.svg", shown(size=(500, 900), filter="tcp && ip.ttl < 64")
    write_timeline(recording(), what, out, "svg")
    words = " ".join(unescape(text) for text in texts_of(out)).split()
    command = command_of(what, recording().words(), "svg", recording().overview().t0_ns)
    assert " ".join(command.split()) in " ".join(words)


def test_a_picture_is_the_same_at_every_resolution_only_larger(
    qtbot: QtBot, tmp_path: Path
) -> None:
    out, made = tmp_path / "t.svg", []
    for dpi in (96, 192, 300):
        for lanes, size in (("packet", (800, 300)), ("packet", (1200, 900))):
            whole = (size[0] * dpi // 96, size[1] * dpi // 96)
            write_timeline(FakeRecording(), Shown(lanes, (3,), size=whole, dpi=dpi), out, "svg")
            texts = [text for text in texts_of(out) if "export" not in text and "--" not in text]
            places = re.findall(r'(?:font-size|[xy]|width|height)="([0-9.]+)"', out.read_text())
            made.append((lanes, texts, len(places)))
    assert made[0:2] == made[2:4] == made[4:6]
    assert "veth_xmit" in made[1][1]


def test_each_clock_is_named(qtbot: QtBot) -> None:
    class TwoClocks(FakeRecording):
        def info(self) -> dict[str, Any]:
            made = super().info()
            return made | {"clock": [made["clock"][0], made["clock"][0] | {"source": 2}]}

    one = TimelinePicture(FakeRecording(), shown(), "png").footer()
    two = TimelinePicture(TwoClocks(), shown(), "png").footer()
    assert [text.split(":")[0] for text in one if "Clock" in text] == ["Clock offset"]
    names = [Path(source.path).name for source in FakeRecording().sources()]
    found = [text.split(":")[0] for text in two if "Clock" in text]
    assert found == [f"Clock offset of {name}" for name in names[:2]]


@pytest.mark.parametrize("text", ["one two three", "a" * 300, "", "x " * 50 + "y" * 90])
def test_wrapped_text_is_whole_and_fits(qapp: QApplication, text: str) -> None:
    metrics = QFontMetricsF(export_font(10))
    lines = wrapped_lines(text, metrics.horizontalAdvance, 120)
    assert "".join(lines).replace(" ", "") == text.replace(" ", "")
    assert all(metrics.horizontalAdvance(line) <= 120 for line in lines)


@pytest.mark.parametrize("pixels", [10, 12])
def test_texts_are_as_wide_as_qt_draws_them(qapp: QApplication, pixels: int) -> None:
    metrics = QFontMetricsF(export_font(pixels))
    command = "skbviewer export a.pcap --png timeline.png --lanes packet --filter 'ip.ttl < 64'"
    for text in ("", "iiiillll", "1" * 64, "± 250 ns  ·  µ − A", command):
        real = metrics.horizontalAdvance(text)
        assert real <= text_width(text, pixels) <= real * 1.01
    kerned = "WAVE To, Ty."  # its pairs of letters are drawn closer
    assert metrics.horizontalAdvance(kerned) < text_width(kerned, pixels)


def test_the_table_holds_the_boxes_of_the_picture(qtbot: QtBot, tmp_path: Path) -> None:
    out, what = tmp_path / "t.csv", shown()
    write_timeline_table(recording(), Request(shown=what), out)
    bins = TimelinePicture(recording(), what, "csv").bins()
    lines = out.read_text().splitlines()
    comments = [line for line in lines if line.startswith("#")]
    rows = list(csv.DictReader(line for line in lines if not line.startswith("#")))
    assert "--csv timeline.csv" in comments[-1]
    assert sum(int(row["count"]) for row in rows) == bins["count"].sum()
    assert len(rows) == len(bins)
    single = next(row for row in rows if row["function"] == "veth_xmit")
    assert int(single["dur_ns"]) == 19_000
    assert int(single["begin_ns"]) > T0


def test_a_picture_that_cannot_be_written(qtbot: QtBot, tmp_path: Path) -> None:
    for form in ("png", "svg"):
        with pytest.raises(BadInput, match="no/t"):
            write_timeline(FakeRecording(), shown(), tmp_path / "no" / f"t.{form}", form)
    with pytest.raises(BadInput, match="no/t"):
        write_timeline_table(FakeRecording(), Request(shown=shown()), tmp_path / "no" / "t.csv")


def test_notes_of_calls_and_packets_stand_at_their_times() -> None:
    made = FakeRecording()
    made.notes.keep(Annotation("call_note", "odd", call=8))
    made.notes.keep(Annotation("comment", "look", packet=3))
    call, packet = made.note_places()
    assert call.end_ns - call.begin_ns == 19_000
    assert packet.begin_ns == packet.end_ns


def test_seconds_are_exact_both_ways() -> None:
    for text, ns in (("0.000000001", 1), ("-1.5", -1_500_000_000), ("12", 12 * 10**9)):
        assert seconds_of(text) == ns
        assert seconds_text(ns) == text
    for wrong in ("", "1.0000000001", "x", "1e3"):
        with pytest.raises(ValueError, match="not a number"):
            seconds_of(wrong)


def test_a_command_quotes_what_needs_it() -> None:
    words = command_of(Shown("packet", filter="a == b", title="My title"), ["s.skbv"], "svg", 0)
    assert "--filter 'a == b' --title 'My title'" in words


def test_rows_are_named_in_short() -> None:
    for text, rows in (("3-5,9,K2", (3, 4, 5, 9, -2)), ("7", (7,)), ("9,8,K1,K2", (9, 8, -1, -2))):
        assert rows_of(text) == rows
        assert rows_text(rows) == text
    words = command_of(Shown("packet", (2, 3, 4), named=True), ["a.pcap", "b.kbl"], "png", 0)
    assert words == ("skbviewer export a.pcap b.kbl --png timeline.png --lanes packet --packet 2-4")
    for wrong in ("", "K", "3-", "-3", "K1-K2", "1-100000000000"):
        with pytest.raises(ValueError, match="packet"):
            rows_of(wrong)


def test_lanes_that_do_not_fit_are_counted(qtbot: QtBot) -> None:
    what = Shown("packet", tuple(range(1, 41)), size=(800, 400))
    assert "lanes are not shown: the picture is not high enough" in "\n".join(
        TimelinePicture(recording(), what, "png").footer()
    )


def test_ticks_are_round() -> None:
    assert [round_step(least) for least in (0.3, 1, 110, 5e8)] == [1, 1, 200, 500_000_000]


def test_a_gap_is_hatched_in_a_vector_picture_too(qtbot: QtBot, tmp_path: Path) -> None:
    texts = []
    for name, end in (("with", 30 * MS), ("without", 10 * MS)):
        t0, out = FakeRecording().overview().t0_ns, tmp_path / name
        write_timeline(FakeRecording(), Shown("cpu", range=(t0, t0 + end)), out, "svg")
        texts.append(out.read_text().count("pattern"))
    assert texts[0] > texts[1]


def test_aligned_packets_are_labelled_as_such(qtbot: QtBot) -> None:
    picture = TimelinePicture(recording(), Shown("aligned", (3, 4, 5)), "png")
    assert picture.title == "Displayed packets, aligned"
    assert "after each packet's first entry" in picture.subtitle()[0]
    assert picture.range[0] == 0


def test_titles_of_low_lanes_are_whole() -> None:
    assert title_lines([0, 20], [30, 40], 18) == [(0, 18), (20, 18)]
    assert title_lines([-10, 20], [30, 40], 18) == [(0, 18), (20, 18)]  # stays in sight
    assert title_lines([-25, 5], [30, 40], 18) == [(-13, 18), (5, 18)]
    assert title_lines([0, 10], [8, 100], 18) == [(0, 18), (18, 18)]  # the next has room
    assert title_lines([0, 10, 20], [8, 8, 8], 18) == [(0, 12), (10, 12), (20, 12)]
