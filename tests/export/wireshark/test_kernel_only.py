# SPDX-License-Identifier: MIT
"""Packets that no capture has are written from the bytes in a log, and marked."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from skbviewer import readers
from skbviewer.cli import main
from skbviewer.export import Request, Writer, write_pcap, write_pcapng
from skbviewer.export.packets_from_tracer_log import without_bytes
from skbviewer.export.wireshark.lua_script import lua_script
from skbviewer.records import BadInput, Capture, Silent
from skbviewer.session import Session
from tests.e2e.samples import open_sample
from tests.readers import build_retis as retis

from .points import BEGIN, CAPTURED, FRAMES, HIDDEN, STEP, events, session_of
from .test_with_tshark import tshark

HIDDEN_TIMES = [BEGIN + (n + 1) * STEP + 400 for n in range(CAPTURED, CAPTURED + HIDDEN)]
EVERY = Request(kernel_only=True)


@pytest.fixture(scope="module")
def session(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Session]:
    opened = session_of(tmp_path_factory.mktemp("kernel-only"))
    yield opened
    opened.close()


def read(path: Path) -> Capture:
    made = readers.read(path, Silent())
    assert isinstance(made, Capture)
    return made


def frames(path: Path) -> list[bytes]:
    packets = read(path).packets
    places = zip(packets["offset"].tolist(), packets["caplen"].tolist(), strict=True)
    return [path.read_bytes()[at : at + size] for at, size in places]


@pytest.mark.parametrize(("write", "suffix"), [(write_pcapng, ".pcapng"), (write_pcap, ".pcap")])
def test_packets_of_the_log_are_added(
    session: Session, tmp_path: Path, write: Writer, suffix: str
) -> None:
    assert session.packets.kernel_only_count() >= HIDDEN
    out = tmp_path / f"out{suffix}"
    write(session, Request(), out)
    assert frames(out) == FRAMES[:CAPTURED]
    write(session, EVERY, out)
    assert frames(out) == FRAMES
    packets = read(out).packets
    lengths = [len(frame) + 1000 for frame in FRAMES[CAPTURED:]]
    assert packets["len"].tolist()[CAPTURED:] == lengths
    ts = packets["ts"][CAPTURED:]
    rows = session.packets.kernel_only(1, HIDDEN)  # begun by a point without bytes
    assert (ts - np.array([row.time_ns for row in rows])).tolist() == [400] * HIDDEN
    assert np.abs(ts - np.array(HIDDEN_TIMES)).max() < 1000  # the clock fit is so exact
    names = ("frame.cap_len", "frame.len", "frame.time_epoch", "ip.id")
    lines = tshark(out, "-T", "fields", *(word for name in names for word in ("-e", name)))
    shown = [line.split("\t") for line in lines]
    assert [int(line[0]) for line in shown] == [len(frame) for frame in FRAMES]
    assert [int(line[1]) for line in shown][CAPTURED:] == lengths
    assert [int(line[3], 16) for line in shown] == [100 + n for n in range(len(FRAMES))]


def test_each_is_marked_and_names_forge_no_field(session: Session, tmp_path: Path) -> None:
    out, script = tmp_path / "out.pcapng", tmp_path / "kbl.lua"
    write_pcapng(session, EVERY, out)
    script.write_text(lua_script())
    names = ("frame.comment", "frame.interface_name", "kbl.verdict", "kbl.drop_reason", "kbl.dev")
    words = [word for name in names for word in ("-e", name)]
    lines = tshark(out, "-X", f"lua_script:{script}", "-T", "fields", "-E", "separator=|", *words)
    for line in lines[:CAPTURED]:
        assert "not in any capture" not in line and "kernel-only" not in line
    for line in lines[CAPTURED:]:
        comment, interface, verdict, reason, device = line.split("|")
        mark = f"not in any capture: bytes of a retis log at {retis.RECEIVE}"
        assert comment.startswith(f"{mark},skbviewer:kbl/2 kbl verdict=kernel-only ")
        _, _, others = comment.split("skbviewer:kbl/2")  # two comments of the exporter
        assert others.startswith(" others ") and " src=" in others
        assert (interface, verdict, reason) == ("kernel-only", "kernel-only", "A=B c")
        assert device and " cpu=" not in comment
    only = tshark(out, "-X", f"lua_script:{script}", "-Y", 'kbl.verdict == "kernel-only"')
    assert len(only) == HIDDEN


def ids(path: Path) -> list[int]:
    return [int(n) - 100 for n in read(path).packets["ip_id"].tolist()]


@pytest.mark.parametrize(("write", "suffix"), [(write_pcapng, ".pcapng"), (write_pcap, ".pcap")])
def test_filter_range_and_rows_choose(
    session: Session, tmp_path: Path, write: Writer, suffix: str
) -> None:
    out = tmp_path / f"out{suffix}"
    write(session, EVERY._replace(filter="ip.id >= 107 && ip.id <= 109"), out)
    assert ids(out) == [7, 8, 9]
    write(session, EVERY._replace(filter='kbl.verdict == "kernel-only"'), out)
    assert ids(out) == [8, 9, 10, 11]
    write(session, EVERY._replace(rows=(2, -1)), out)
    assert ids(out) == [1, 8]
    first = session.timeline.overview().t0_ns
    write(session, EVERY._replace(times=(first + 7 * STEP - STEP // 2, first + 9 * STEP)), out)
    assert ids(out) == [7, 8, 9]
    with pytest.raises(KeyError, match="K5: no log contains"):
        write(session, EVERY._replace(rows=(-5,)), out)
    with pytest.raises(KeyError, match="no packet K99"):
        write(session, EVERY._replace(rows=(-99,)), out)


def test_those_without_bytes_are_counted(session: Session) -> None:
    assert without_bytes(session, EVERY) == (
        "1 lifetime left out: no log contains the bytes of these packets"
    )
    assert without_bytes(session, EVERY._replace(filter="ip.id == 110")) == ""
    assert without_bytes(session, Request()) == ""


@pytest.mark.parametrize(("write", "suffix"), [(write_pcapng, ".pcapng"), (write_pcap, ".pcap")])
def test_cuts_and_pseudonyms_apply(
    session: Session, tmp_path: Path, write: Writer, suffix: str
) -> None:
    out = tmp_path / f"out{suffix}"
    write(session, EVERY._replace(payload=False), out)
    assert {len(frame) for frame in frames(out)} == {42}
    write(session, EVERY._replace(snaplen=20), out)
    assert {len(frame) for frame in frames(out)} == {20}
    write(session, EVERY._replace(pseudonym_key=b"k" * 16), out)
    raw = out.read_bytes()
    assert bytes([10, 9, 0, 1]) not in raw and b"10.9.0.1" not in raw
    addresses = set(tshark(out, "-T", "fields", "-e", "ip.src"))
    assert len(addresses) == 1  # captured and kernel-only packets have the same pseudonym
    assert [len(frame) for frame in frames(out)] == [len(frame) for frame in FRAMES]


def test_without_bytes_one_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    session, _ = open_sample("drops", tmp_path)
    out = tmp_path / "out.pcapng"
    with pytest.raises(KeyError, match="no log of this recording contains bytes of packets"):
        write_pcapng(session, EVERY, out)
    assert main(["export", str(session.file), "--pcapng", str(out), "--kernel-only"]) == 2
    (line,) = capsys.readouterr().err.splitlines()
    assert "'--kernel-only': no log of this recording contains bytes" in line
    assert not out.exists() and not list(tmp_path.glob(".*tmp"))


def test_options_that_do_not_fit_are_one_line(
    session: Session, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for words in (["--html", "o.html", "--kernel-only"], ["--pcap", "o.pcap", "--retis"]):
        assert main(["export", str(session.file), *words]) == 2
        (line,) = capsys.readouterr().err.splitlines()
        assert f"{words[2]} is for --" in line and f", not for {words[0]}" in line
    out = str(tmp_path / "out.pcapng")
    assert main(["export", str(session.file), "--pcapng", out, "--kernel-only"]) == 0
    assert "1 lifetime left out" in capsys.readouterr().err


def test_a_log_that_changed_is_refused(tmp_path: Path) -> None:
    session = session_of(tmp_path)
    log = tmp_path / "retis.data"
    with log.open("a") as file:
        file.write("\n")
    with pytest.raises(BadInput, match="has changed since the import"):
        write_pcapng(session, EVERY, tmp_path / "out.pcapng")
    made = events()
    made[2], made[3] = made[3], made[2]
    size = log.stat().st_size
    retis.write(log, [*made[:-1], made[5]])
    log.write_text(log.read_text()[: size - 2] + "\n")
    os.truncate(log, size - 1)
    with pytest.raises(BadInput, match="has changed since the import"):
        write_pcapng(session, EVERY, tmp_path / "out.pcapng")
    assert not (tmp_path / "out.pcapng").exists() and not list(tmp_path.glob(".out*"))
    session.close()


KILLED = """
import os, signal, sys
from pathlib import Path
from skbviewer.export import Request, write_pcapng
from skbviewer.session import Session
from skbviewer.export.wireshark import {module} as writer
real = writer.{name}
def kill(*given, **named):
    os.kill(os.getpid(), signal.SIGKILL)
writer.{name} = kill
request = Request(kernel_only=True, retis={retis})
write_pcapng(Session.open(Path(sys.argv[1])), request, Path(sys.argv[2]))
"""


@pytest.mark.parametrize(
    ("module", "name", "shape"),
    [("pcapng", "point_marks", False), ("retis_blocks", "event_of_log", True)],
)
def test_a_kill_leaves_no_half_file(
    session: Session, tmp_path: Path, module: str, name: str, shape: bool
) -> None:
    out = tmp_path / "out.pcapng"
    code = KILLED.format(module=module, name=name, retis=shape)
    words = [sys.executable, "-c", code, str(session.file), str(out)]
    assert subprocess.run(words, check=False).returncode == -signal.SIGKILL
    assert not out.exists()
