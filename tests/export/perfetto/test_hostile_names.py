# SPDX-License-Identifier: MIT
"""Names of processes and functions are in a trace as they are in the recording."""

from __future__ import annotations

from pathlib import Path

from skbviewer.export import Request
from skbviewer.export.perfetto.trace import write_perfetto
from skbviewer.readers.printable_names import printable
from tests.export.hostile import LOG, NAMES, SHORT, hostile_session

from .read_trace import read


def test_names_are_those_of_the_recording(tmp_path: Path) -> None:
    session = hostile_session(tmp_path)
    write_perfetto(session, Request(), tmp_path / "out.pftrace")
    trace = read(tmp_path / "out.pftrace")
    assert {one.name for one in trace.slices} >= set(map(printable, NAMES))
    threads = {f"{printable(name[:SHORT])} [{100 + at}]" for at, name in enumerate(NAMES)}
    assert set(trace.tracks.values()) >= threads | {f"<b>host</b> ({LOG})"}
    drops = {f"drop {printable(name.replace(chr(10), ' '))}" for name in NAMES}
    assert {one.name for one in trace.instants} >= drops
