# SPDX-License-Identifier: MIT
"""Every packet stands where it was in session time, whatever clock its time is of."""

from __future__ import annotations

import json
import sqlite3
from contextlib import closing
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pytest

from skbviewer.analysis.stats import Chosen
from skbviewer.analysis.timeline.lanes import WIRE
from skbviewer.cli import main
from skbviewer.readers import packet_bytes
from skbviewer.records import Annotation, resource
from skbviewer.session import Session, import_files
from tests.e2e.treated import packets_of, rewrite
from tests.readers.build import block, enhanced_packet, interface_block, section_header

SAMPLE = resource("samples/handshake")
PCAP, KBL = SAMPLE / "handshake.pcap", SAMPLE / "handshake.kbl"
SECOND = 1_000_000_000
Index = npt.NDArray[np.int64]


def capture() -> tuple[Index, list[bytes]]:
    """The sample's times and packets."""
    packets = packets_of(PCAP)
    rows = [(int(at), int(size)) for at, size in packets[["offset", "caplen"]]]
    return packets["ts"].astype(np.int64), [packet_bytes(PCAP, *row) for row in rows]


TRUE, PACKETS = capture()


def write(path: Path, ahead: list[int]) -> Path:
    """Write a pcapng with an interface for each of `ahead`; its clock is that many ns ahead.

    They have all packets twice, first one interface, then another, as mergecap writes two captures
    of a cable.
    """
    parts = [section_header(), *(interface_block() for _ in ahead)]
    for ts, data in zip(TRUE.tolist(), PACKETS, strict=True):
        parts += [enhanced_packet(ts + more, data, at) for at, more in enumerate(ahead)]
    path.write_bytes(b"".join(parts))
    return path


@pytest.fixture(scope="module", params=[7 * SECOND, 40_000_000, -7 * SECOND])
def two(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Session:
    """Two interfaces, the second of which has a clock that is off."""
    folder = tmp_path_factory.mktemp("two")
    import_files([write(folder / "two.pcapng", [0, request.param]), KBL], folder / "s.skbv")
    return Session.open(folder / "s.skbv")


def wires(session: Session) -> tuple[Index, int]:
    """Session times of all packets, as the timeline has them, and the greatest error."""
    line = session.timeline.lanes("packet", range(1, session.packets.count() + 1))
    at = np.array([line.t0_ns + wire.at for wire in line.wires])
    errors = [wire.error_ns for wire in line.wires]
    assert min(errors) >= 0
    return at, max(errors)


def test_packets_of_each_interface_are_where_they_were(two: Session) -> None:
    at, error = wires(two)
    assert error < 20_000
    assert np.abs(at - np.repeat(TRUE, 2)).max() <= error
    assert two.timebase().error(1) == error


def test_all_times_of_a_packet_agree(two: Session) -> None:
    at, _ = wires(two)
    whole = two.timeline.lanes("cpu")
    boxes = np.flatnonzero(whole.boxes.look == WIRE)
    assert sorted(whole.boxes.item[boxes]) == list(range(len(at)))
    assert np.array_equal(whole.boxes.begin[boxes] + whole.t0_ns, at[whole.boxes.item[boxes]])
    overview = two.timeline.overview()
    assert at.min() >= overview.t0_ns and at.max() < overview.t0_ns + overview.span_ns
    assert overview.span_ns < 2 * SECOND
    assert two.stats.begin_ns() == at[0]
    note = two.notes.keep(Annotation("packet_comment", "here", packet=4))
    try:
        assert [place.begin_ns for place in two.timeline.note_places()] == [at[3]]
    finally:
        two.notes.remove(note.id)


def test_a_packets_path_has_its_own_clock(two: Session) -> None:
    epoch = int(two.sources()[1].detail["epoch_offset_ns"])
    for number in range(1, two.packets.count() + 1):
        leg = two.paths.path(packet=number).legs[0]
        assert leg.wire_ns is not None and leg.wire_error_ns is not None
        true = int(TRUE[(number - 1) // 2]) - epoch
        assert abs(leg.wire_ns - true) <= leg.wire_error_ns


def test_a_range_holds_the_packets_of_both_interfaces(two: Session) -> None:
    at, _ = wires(two)
    times = (int(at[8]), int(at[19]))
    meant = np.flatnonzero((at >= times[0]) & (at <= times[1])) + 1
    assert len(meant) >= 10
    behind = times[0], times[1] + 1
    assert two.export.lane_ids("", behind) == tuple(meant.tolist())
    assert two.stats.scope(Chosen(None, *behind)).packets.tolist() == meant.tolist()
    found = two.packets.select(two.timeline.range_filter(times))
    assert found is not None
    off = set(found.tolist()) ^ set(meant.tolist())  # at the ends, by rounding
    assert off <= {9, 20}


def test_the_fits_name_their_interface(two: Session, capsys: pytest.CaptureFixture[str]) -> None:
    (clock,) = two.info()["clock"]
    assert [segment["interface"] for segment in clock["segments"]] == [0, 1]
    assert main(["stats", str(two.file), "clock", "--json", "--filter", "frame.number == 2"]) == 0
    (row,) = json.loads(capsys.readouterr().out)
    assert (row["interface"], row["offset_ns"]) == (1, clock["segments"][1]["offset_ns"])
    assert main(["info", str(two.file)]) == 0
    assert "source 1 interface 1 - kbl 2: offset" in capsys.readouterr().out


def test_a_capture_of_one_interface_has_one_clock(tmp_path: Path) -> None:
    import_files([write(tmp_path / "one.pcapng", [0]), KBL], tmp_path / "s.skbv")
    session = Session.open(tmp_path / "s.skbv")
    assert "interface" not in session.info()["clock"][0]["segments"][0]
    with closing(sqlite3.connect(tmp_path / "s.skbv")) as db:
        assert db.execute("SELECT DISTINCT interface FROM timebase").fetchall() == [(-1,)]


def test_an_interface_without_a_clock_is_unknown(tmp_path: Path) -> None:
    """Its only packet is one that the log does not know."""
    file, stray = tmp_path / "s.pcapng", bytes(12) + b"\x88\xcc" + bytes(46)
    parts = [section_header(), interface_block(), interface_block()]
    parts += [
        enhanced_packet(ts, packet) for ts, packet in zip(TRUE.tolist(), PACKETS, strict=True)
    ]
    parts.append(enhanced_packet(int(TRUE[-1]) + 5, stray, 1))
    file.write_bytes(b"".join(parts))
    import_files([file, KBL], tmp_path / "s.skbv")
    session = Session.open(tmp_path / "s.skbv")
    base = session.timebase()
    assert base.error(1, 0) > 0
    assert base.error(1, 1) == base.error(1) == -1
    line = session.timeline.lanes("packet", [1, session.packets.count()])
    assert [wire.error_ns for wire in line.wires] == [base.error(1, 0), -1]
    assert {leg.wire_ns for leg in session.paths.path(packet=session.packets.count()).legs} <= {
        None
    }


@pytest.mark.parametrize("back_ns", [3600 * SECOND, int(np.ptp(TRUE)) * 3 // 2])
def test_packets_are_in_order_though_the_clock_was_set_back(tmp_path: Path, back_ns: int) -> None:
    """In the middle, by more than had passed."""
    half = len(TRUE) // 2

    def back(ts: Index) -> Index:
        return ts - np.where(np.arange(len(ts)) < half, 0, back_ns)

    pcap = rewrite(PCAP, tmp_path / "back.pcap", back)
    import_files([pcap, KBL], tmp_path / "s.skbv")
    session = Session.open(tmp_path / "s.skbv")
    at, error = wires(session)
    assert error < 20_000
    assert np.abs(at - TRUE).max() <= error
    base = session.timebase()
    assert np.abs(base.to_source(1, TRUE) - back(TRUE)).max() <= error


def test_packets_without_a_time_leave_the_clock_to_the_others(tmp_path: Path) -> None:
    """Simple packet blocks, which are of interface 0; all that have a time are of interface 1."""
    parts = [section_header(), interface_block(), interface_block()]
    for ts, data in zip(TRUE.tolist(), PACKETS, strict=True):
        parts += [block(3, len(data).to_bytes(4, "little") + data), enhanced_packet(ts, data, 1)]
    (tmp_path / "s.pcapng").write_bytes(b"".join(parts))
    import_files([tmp_path / "s.pcapng", KBL], tmp_path / "s.skbv")
    session = Session.open(tmp_path / "s.skbv")
    base, at = session.timebase(), wires(session)[0]
    assert base.interfaces(1) == ()
    assert np.abs(at - TRUE).max() <= base.error(1) < 20_000
    times = [session.paths.path(packet=number).legs[0].wire_ns for number in (1, 2)]
    assert [wire is None for wire in times] == [True, False]
