# SPDX-License-Identifier: MIT
"""The HTML report, whose pictures need Qt: complete, safe to open, and safe to publish."""

from __future__ import annotations

import json
import re
from ipaddress import ip_address
from pathlib import Path
from typing import Any

import pytest
from pytestqt.qtbot import QtBot

from skbviewer.analysis.words.time_words import microseconds
from skbviewer.cli import main
from skbviewer.export import Request
from skbviewer.export.pseudonyms import Pseudonyms
from skbviewer.export.report import report_contents
from skbviewer.export.report.report_contents import facts_of
from skbviewer.gui.pictures.report_pictures import write_html
from skbviewer.readers.printable_names import printable
from skbviewer.records import BadInput, Cancelled, PacketRow, resource
from skbviewer.session import Session, import_files
from tests.export.hostile import CAPTURE, LOG, NAMES, hostile_session
from tests.export.report.page_reader import Page
from tests.readers import build_retis
from tests.readers.build import ethernet, ipv4, udp, write_pcap
from tests.session.two_logs import two_logs

KEY = bytes(range(16))


@pytest.fixture(scope="module")
def session(tmp_path_factory: pytest.TempPathFactory) -> Session:
    folder = tmp_path_factory.mktemp("report")
    inputs = [resource("samples/drops") / f"drops.{kind}" for kind in ("kbl", "pcap")]
    import_files(inputs, folder / "s.skbv")
    return Session.open(folder / "s.skbv")


def report(session: Session, folder: Path, **request: Any) -> Page:
    out = folder / "report.html"
    write_html(session, Request(**request), out)
    return Page(out.read_text(encoding="utf-8"))


def test_hostile_names_are_texts(qtbot: QtBot, tmp_path: Path) -> None:
    session = hostile_session(tmp_path)
    page = report(session, tmp_path, rows=tuple(range(1, len(NAMES) + 1)))
    whole = "\n".join(page.texts)
    for name in map(printable, NAMES):
        assert sum(text.strip("\u2007") == name for text in page.texts) >= 2, name
    assert LOG in whole and CAPTURE in whole and "<b>host</b>" in whole
    assert page.counts["svg"] >= len(NAMES)


def sections(text: str) -> dict[str, Any]:
    """Sections of a point of retis, with `text` wherever a text can be."""
    ends = {"ip": {"src": "10.9.0.1", "dst": "10.9.0.2"}, "proto": {"tcp": SPORTS}}
    return {
        "ovs": {"event_type": "upcall", "cmd": 1, "action": text, text: text},
        "ct": {"state": "New", "orig": ends, "proto_state": text, "mark": text},
        "nft": {"verdict": "drop", "table_name": text, "chain_name": text, "policy": True},
        text or "empty": [text, {text: text}],
    }


SPORTS = {"sport": 40000, "dport": 80}


def retis_session(folder: Path) -> Session:
    """A retis log whose points have sections with hostile texts, and hostile stack traces."""
    frame = ethernet(ipv4("10.9.0.1", "10.9.0.2", 17, udp(5000, 53, bytes(9))))
    made: list[object] = [build_retis.startup()]
    for n, name in enumerate(NAMES):
        point = build_retis.point(n * 1000, build_retis.FREE, n * 1000, frame, drop="NO_SOCKET")
        point["kernel"]["stack_trace"] = [f"{name}+0x1", name]
        made.append(point | sections(name))
    import_files([build_retis.write(folder / "retis.data", made)], folder / "r.skbv")
    return Session.open(folder / "r.skbv")


def test_sections_of_retis_are_texts(qtbot: QtBot, tmp_path: Path) -> None:
    session = retis_session(tmp_path)
    rows = tuple(range(1, len(NAMES) + 1))
    page = report(session, tmp_path, rows=rows)
    whole = "\n".join(page.texts)
    for name in map(printable, NAMES):
        assert f"nft: drop (policy) by table {name}, chain {name}" in whole
        assert f"by {name}+0x1 ← {name}" in whole
        assert f"ovs: upcall (miss) {name}: {name} {name}" in whole
    connection = "ct: New ({}) orig tcp 10.9.0.1 port 40000 > 10.9.0.2 port 80, mark {}"
    for name in map(printable, NAMES):
        assert connection.format(name, name) in whole
    hidden = "\n".join(report(session, tmp_path, rows=rows, pseudonym_key=KEY).texts)
    assert "10.9.0.1" in whole and "10.9.0.1" not in hidden and "ct: New" in hidden


def test_hostile_filters_are_texts(qtbot: QtBot, tmp_path: Path) -> None:
    text = 'frame.comment contains "<script>alert(1)</script>" || frame.number == 1'
    page = report(hostile_session(tmp_path), tmp_path, filter=text)
    assert sum(text in one for one in page.texts) == 2  # title and heading


def test_it_says_what_info_and_path_say(
    qtbot: QtBot, session: Session, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    page = report(session, tmp_path, rows=(5, -1))
    whole = "\n".join(page.texts)
    for source in session.sources():
        assert source.sha256 in whole and Path(source.path).name in whole
        assert str(Path(source.path).parent) not in whole
    assert main(["path", "--json", str(session.file), "--packet", "5"]) == 0
    path = json.loads(capsys.readouterr().out)
    for leg in path["legs"]:
        for call in leg["calls"]:
            assert call["function"] in [text.strip("\u2007") for text in page.texts]
            assert microseconds(call["dur_ns"]) in page.texts
            assert microseconds(call["self_ns"]) in page.texts
    assert "NETFILTER_DROP at nf_hook_slow+0xaa" in whole
    assert main(["stats", str(session.file), "drops", "--json"]) == 0
    drops = json.loads(capsys.readouterr().out)
    for row in drops:
        assert row["reason"] in page.texts and row["function"] in page.texts
    cards = dict(zip(page.texts[1:], page.texts, strict=False))  # a number, and what it counts
    counts = [sum(row[name] for row in drops) for name in ("count", "lost")]
    assert counts == [28, 27]
    assert cards["drops, as the kernel counts them"] == "28"
    assert cards["drops that lost a packet"] == "27"
    assert main(["stats", str(session.file), "functions", "--json"]) == 0
    calls = sum(row["count"] for row in json.loads(capsys.readouterr().out))
    assert cards["calls of functions"] == f"{calls:,}"
    assert {"packet-5", "packet-K1"} <= set(page.ids)
    assert page.counts["article"] == 2


def test_without_named_packets_it_shows_those_that_stand_out(
    qtbot: QtBot, session: Session, tmp_path: Path
) -> None:
    page = report(session, tmp_path)
    assert {"packet-5", "packet-6", "packet-7", "packet-8", "packet-3"} <= set(page.ids)
    assert page.counts["article"] == 8
    one = report(session, tmp_path, row=3)
    assert [name for name in one.ids if name.startswith("packet-")] == ["packet-3"]
    lines = [text for text in one.texts if text in ("10.9.0.1", "10.9.0.2")]
    assert len(lines) == 2  # the list has this packet only
    with pytest.raises(KeyError, match="no packet 31"):
        report(session, tmp_path, rows=(31,))
    with pytest.raises(KeyError, match="51 packets are more than a report shows"):
        report(session, tmp_path, rows=(1,) * 51)


def test_pictures_have_both_colours(qtbot: QtBot, session: Session, tmp_path: Path) -> None:
    page = report(session, tmp_path, rows=(5,))
    night = page.style[page.style.index("@media screen and (prefers-color-scheme:dark)") :]
    light = dict(re.findall(r"\.(c\d+)\{(\w+:[^}]*)\}", page.style.removesuffix(night)))
    dark = dict(re.findall(r"\.(c\d+)\{(\w+:[^}]*)\}", night))
    assert light.keys() == dark.keys() and len(light) > 10
    assert sum(light[name] != dark[name] for name in light) > len(light) // 2
    for layer in session.layers()[:3]:
        assert layer.colour in page.style and layer.colour_dark in night


def test_pseudonyms_leave_no_address(qtbot: QtBot, session: Session, tmp_path: Path) -> None:
    names = Pseudonyms(KEY, ["lab"])
    page = report(session, tmp_path, rows=(1, 2, 3, 5), pseudonym_key=KEY)
    data = (tmp_path / "report.html").read_text()
    assert not re.search(r"10\.9\.0\.[12]\b", data)
    for packet in session.packets.numbered(1, 30):
        for text in (packet.source_text, packet.destination_text):
            assert text == "Broadcast" or text not in data
            if text != "Broadcast":
                assert names.text(text) in page.texts
        for raw in (packet.saddr, packet.daddr):
            if raw:
                spaced = ip_address(raw).packed.hex(" ")
                assert spaced not in data
    report(session, tmp_path, filter="ip.addr == 10.9.0.1", pseudonym_key=KEY)
    assert "10.9.0.1" not in (tmp_path / "report.html").read_text()
    hosts = [text for text in page.texts if text == names.host("lab")]
    assert hosts and not re.search(r"\blab\b", "\n".join(page.texts))
    again = report(session, tmp_path, rows=(1, 2, 3, 5), pseudonym_key=KEY)
    assert again.texts == page.texts


@pytest.mark.parametrize(
    ("request_", "shown"),
    [({}, 73), ({"payload": False}, 42), ({"snaplen": 20}, 20), ({"pseudonym_key": KEY}, 73)],
)
def test_bytes_are_cut_as_asked(
    qtbot: QtBot, session: Session, tmp_path: Path, request_: dict[str, Any], shown: int
) -> None:
    page = report(session, tmp_path, rows=(5,), **request_)
    assert f"Bytes: {shown} of 73 captured" in page.texts
    (dump,) = (text for text in page.texts if text.startswith("0000  "))
    found = bytes.fromhex("".join(line[6:53] for line in dump.split("\n")))
    raw = session.contents.packet_bytes(5)
    assert raw is not None and len(found) == shown
    if "pseudonym_key" in request_:
        assert found[14:26] == raw[14:24] + found[24:26] and not any(found[44:])
    else:
        assert found == raw[:shown]


def test_a_capture_that_has_moved_costs_only_the_bytes(qtbot: QtBot, tmp_path: Path) -> None:
    frame = ethernet(ipv4("10.0.0.1", "10.0.0.2", 17, udp(1, 2)))
    write_pcap(tmp_path / "a.pcap", [(10**18, frame)])
    import_files([tmp_path / "a.pcap"], tmp_path / "a.skbv")
    (tmp_path / "a.pcap").unlink()
    page = report(Session.open(tmp_path / "a.skbv"), tmp_path, rows=(1,))
    assert not any(text.startswith("Bytes:") for text in page.texts)
    assert "No kernel log has records of this packet." in page.texts


def test_a_report_about_no_packets(qtbot: QtBot, session: Session, tmp_path: Path) -> None:
    page = report(session, tmp_path, filter="frame.number == 99")
    assert page.counts["article"] == 0 and "paths" not in page.ids
    assert "No drops were recorded." in page.texts and "No calls were recorded." in page.texts


def test_a_report_about_two_hosts(qtbot: QtBot, tmp_path: Path) -> None:
    page = report(two_logs(tmp_path, ("left", "right")), tmp_path, rows=(1,), pseudonym_key=KEY)
    names, whole = Pseudonyms(KEY), "\n".join(page.texts)
    for host in ("left", "right"):
        assert names.host(host) in page.texts
        assert not re.search(rf"\b{host}\b", whole)


def test_a_report_is_whole_or_not_there(qtbot: QtBot, session: Session, tmp_path: Path) -> None:
    class Cancelling:
        def report(self, what: str, done: int, total: int) -> None:
            if what == "Reading paths":
                raise Cancelled

    with pytest.raises(Cancelled):
        report(session, tmp_path, progress=Cancelling())
    with pytest.raises(BadInput, match="cannot write"):
        report(session, tmp_path / "nowhere")
    assert [path.name for path in tmp_path.iterdir() if path.is_file()] == []


def test_lost_and_slow_packets_far_down_the_list_are_shown(
    session: Session, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole = facts_of(session, Request())
    monkeypatch.setattr(report_contents, "MOST_LISTED", 2)
    part = facts_of(session, Request())
    assert len(part.rows) == 2
    numbers = [one.row.number for one in part.shown if isinstance(one.row, PacketRow)]
    assert numbers == [one.row.number for one in whole.shown if isinstance(one.row, PacketRow)]
    assert len(part.shown) == len(whole.shown) == report_contents.DROPPED + report_contents.SLOWEST
    assert max(numbers) > 2


def test_no_folder_is_in_the_report(qtbot: QtBot, tmp_path: Path) -> None:
    """A warning names the file, too."""
    folder = tmp_path / "secretfolder"
    folder.mkdir()
    log, capture = (resource("samples/drops") / f"drops.{kind}" for kind in ("kbl", "pcap"))
    cut = folder / "cut.pcap"
    cut.write_bytes(capture.read_bytes()[:-20])
    made = import_files([log, cut], tmp_path / "s.skbv")
    assert any("secretfolder" in warning for warning in made.warnings)
    whole = "\n".join(report(Session.open(tmp_path / "s.skbv"), tmp_path).texts)
    assert "cut.pcap at byte" in whole
    assert "secretfolder" not in whole
