# SPDX-License-Identifier: MIT
"""The bundled recording, from the files to the answers."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from skbviewer.cli import main
from skbviewer.records import resource
from skbviewer.session import Session, import_files

from .handshake import HEADING, SAMPLE, handshake, table, wrong

README = Path(__file__).resolve().parents[2] / "README.md"
FOLDER = resource(SAMPLE)
FILES = [FOLDER / "handshake.pcap", FOLDER / "handshake.kbl"]


@pytest.fixture(scope="module")
def file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("sample") / "handshake.skbv"
    assert import_files(FILES, out).warnings == ()
    return out


def test_every_ip_packet_has_its_own_series(file: Path) -> None:
    assert wrong(Session.open(file), FILES[0]) == []


def test_readme_shows_this_recording(file: Path) -> None:
    text = (FOLDER / "README.md").read_text(encoding="utf-8")
    assert text.split(HEADING)[1].strip() == table(handshake(Session.open(file))).strip()


def test_the_projects_readme_shows_what_is_printed(
    file: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Each line that it quotes, except for spaces and the dots of what is left out."""
    text = README.read_text(encoding="utf-8")
    quoted = text.split("and prints:\n")[1].split("\nA *series*")[0].split("\n")
    lines = [" ".join(line.split()).removesuffix(" ...") for line in quoted if line.strip()]
    assert len(lines) >= 8
    assert main(["packets", str(file)]) == 0
    assert main(["path", str(file), "--packet", "3", "--tree"]) == 0
    printed = " ".join(capsys.readouterr().out.split())
    assert [line for line in lines if line not in printed] == []


def test_recording_is_small() -> None:
    assert sum(path.stat().st_size for path in FOLDER.iterdir()) < 2_000_000


def test_info_counts_exact_ipv4(file: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["info", str(file), "--json"]) == 0
    info = json.loads(capsys.readouterr().out)
    packets = Session.open(file).packets.numbered(1, info["packets"])
    assert info["matches_by_protocol"]["ipv4"]["exact"] == sum(p.saddr is not None for p in packets)
    assert info["lost_records"] == 0
    assert info["records"] > 1000


@pytest.mark.parametrize("name", ["SYN", "SYN,ACK", "ACK"])
def test_path_prints_entry_and_exit(
    file: Path, capsys: pytest.CaptureFixture[str], name: str
) -> None:
    path = handshake(Session.open(file))[name]
    assert path.packet is not None
    assert main(["path", str(file), "--packet", str(path.packet.number), "--tree"]) == 0
    text = capsys.readouterr().out
    lines = [line for line in text.splitlines() if " veth_xmit " in line or " tcp_v4_rcv " in line]
    assert len(lines) == 2
    for line in lines:
        entry, leave = line.split()[:2]
        assert 0 <= float(entry) < float(leave)


def test_syn_ack_has_identification_zero(file: Path) -> None:
    packet = handshake(Session.open(file))["SYN,ACK"].packet
    assert packet is not None
    assert packet.ip_id == 0
    assert packet.verdict == "exact"


def test_both_orders_of_the_files_give_the_same_matches(file: Path, tmp_path: Path) -> None:
    import_files(FILES[::-1], tmp_path / "other.skbv")
    one, other = Session.open(file), Session.open(tmp_path / "other.skbv")
    columns = [
        [(p.number, p.verdict, p.kernel_ns, p.functions) for p in s.packets.numbered(1, 1000)]
        for s in (one, other)
    ]
    assert columns[0] == columns[1]


def test_capture_alone_and_kbl_alone_open_too(tmp_path: Path) -> None:
    import_files(FILES[:1], tmp_path / "wire.skbv")
    wire = Session.open(tmp_path / "wire.skbv")
    assert {p.verdict for p in wire.packets.numbered(1, 100)} == {"wire-only"}
    assert "No kernel log" in wire.packets.numbered(1, 1)[0].reason
    import_files(FILES[1:], tmp_path / "kernel.skbv")
    kernel = Session.open(tmp_path / "kernel.skbv")
    assert kernel.packets.count() == 0
    rows = kernel.packets.kernel_only(1, 100)
    assert len(rows) == kernel.packets.kernel_only_count() == wire.packets.count()
    assert kernel.paths.path(series=rows[0].series).legs


def test_export_csv_says_what_it_shows(file: Path, tmp_path: Path) -> None:
    out = tmp_path / "path.csv"
    assert main(["export", str(file), "--packet", "4", "--csv", str(out)]) == 0
    text = out.read_text(encoding="utf-8")
    session = Session.open(file)
    for source in session.sources():
        assert source.sha256 in text
    calls = sum(len(leg.calls) for leg in session.paths.path(packet=4).legs)
    rows = [line for line in text.splitlines() if not line.startswith("#")]
    assert len(rows) == calls + 1


def test_dump_prints_every_record(capsys: pytest.CaptureFixture[str], file: Path) -> None:
    assert main(["dump", str(FILES[1])]) == 0
    said = capsys.readouterr().out.splitlines()
    lines = [line for line in said if not line.lstrip().startswith("by ")]  # a drop's stack
    returns = sum("<- " in line for line in lines)
    assert len(said) > len(lines) == Session.open(file).info()["records"] + returns
    assert returns > 1000
    assert any("-> ip_rcv " in line for line in lines)


def test_packet_bytes_come_from_the_source_file(file: Path) -> None:
    session = Session.open(file)
    row = session.packets.numbered(3, 1)[0]
    data = session.contents.packet_bytes(3)
    assert data is not None
    assert len(data) == row.caplen


def test_unknown_packet_is_one_clear_line(file: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["path", str(file), "--packet", "999"]) == 2
    assert capsys.readouterr().err == "skbviewer: no packet 999\n"
