# SPDX-License-Identifier: MIT
"""Traces of all samples, read by the messages of the package perfetto, against `path --json`."""

from __future__ import annotations

import builtins
import json
from collections import Counter
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from perfetto.protos.perfetto.trace import perfetto_trace_pb2 as pb

from skbviewer.cli import main
from skbviewer.export import Request
from skbviewer.export.path_text import QUIET
from skbviewer.export.perfetto import trace as writer
from skbviewer.export.perfetto.trace import write_perfetto
from skbviewer.records import BadInput, Cancelled, resource
from skbviewer.session import Session, import_files
from tests.export.wireshark.test_with_tshark import SAMPLES
from tests.readers import build_retis
from tests.readers.build import ethernet, ipv4, udp, write_pcap
from tests.readers.build_retis import point, startup
from tests.session.two_logs import two_logs

from .read_trace import Trace, read


class Exported(NamedTuple):
    session: Session
    trace: Trace


def paths(session: Session, rows: list[str], capsys: pytest.CaptureFixture[str]) -> dict[str, Any]:
    """`path --json` of rows."""
    found = {}
    for row in rows:
        assert main(["path", "--json", str(session.file), "--packet", row]) == 0
        found[row] = json.loads(capsys.readouterr().out)
    return found


def rows_of(session: Session) -> list[str]:
    packets = [str(n) for n in range(1, min(session.packets.count(), 25) + 1)]
    return packets + [
        f"K{n}" for n in range(1, min(session.packets.all_kernel_only_count(), 8) + 1)
    ]


def written(session: Session, folder: Path, **request: Any) -> Trace:
    out = folder / "out.pftrace"
    write_perfetto(session, Request(**request), out)
    return read(out)


@pytest.fixture(scope="module", params=SAMPLES)
def sample(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Exported:
    name, folder = request.param, tmp_path_factory.mktemp("sample")
    inputs = [resource("samples") / name / f"{name}.{kind}" for kind in ("kbl", "pcap")]
    import_files(inputs, folder / "s.skbv")
    session = Session.open(folder / "s.skbv")
    return Exported(session, written(session, folder))


def test_calls_and_times_are_those_of_the_paths(
    sample: Exported, capsys: pytest.CaptureFixture[str]
) -> None:
    session, trace = sample
    log = next(source.id for source in session.sources() if source.kind.is_log)
    (offset,) = session.timebase().to_session(log, [0]).tolist()  # type: ignore[arg-type]
    for row, path in paths(session, rows_of(session), capsys).items():
        calls = [call for leg in path["legs"] for call in leg["calls"]]
        expected = Counter(
            (call["function"], call["layer"], call["entry_ns"] + offset, call["dur_ns"],
             call["self_ns"], call["cpu"])
            for call in calls if call["dur_ns"] is not None
        )  # fmt: skip
        found = Counter(
            (s.name, s.category, s.begin, s.end - s.begin, s.own, s.cpu)
            for s in trace.slices
            if row in s.packets
        )
        assert found == Counter(dict.fromkeys(expected, 1)), row


def test_events_are_those_of_the_paths(
    sample: Exported, capsys: pytest.CaptureFixture[str]
) -> None:
    for row, path in paths(sample.session, rows_of(sample.session), capsys).items():
        events = [event for leg in path["legs"] for event in leg["events"]]
        expected = Counter(event["event"] for event in events if event["event"] not in QUIET)
        found = Counter(i.name.split(" ")[0] for i in sample.trace.instants if row in i.packets)
        assert {name: found[name] for name in expected} == dict(expected)
        drops = {e["text"].split(" ")[1] for e in events if e["event"] == "drop"}
        named = {i.name.split(" ")[1] for i in sample.trace.instants
                 if row in i.packets and i.name.startswith("drop ")}  # fmt: skip
        assert named == drops


def test_flows_join_slices_of_one_packet(sample: Exported) -> None:
    ends = Counter(flow for one in sample.trace.slices for flow in one.flows)
    assert ends
    assert min(ends.values()) > 1
    packets: dict[int, frozenset[str]] = {}
    for one in sample.trace.slices:
        for flow in one.flows:
            packets[flow] = packets.get(flow, one.packets) & one.packets
            assert packets[flow] or not one.packets, flow


def test_there_is_a_clock_and_each_track_has_a_parent(sample: Exported) -> None:
    trace = sample.trace
    assert {pb.BUILTIN_CLOCK_REALTIME, pb.BUILTIN_CLOCK_MONOTONIC} == set(trace.clocks)
    wall, monotonic = (
        trace.clocks[one] for one in (pb.BUILTIN_CLOCK_REALTIME, pb.BUILTIN_CLOCK_MONOTONIC)
    )
    (log,) = (source for source in sample.session.sources() if source.kind.is_log)
    assert wall - monotonic == int(log.detail["epoch_offset_ns"])
    tops = [uuid for uuid, parent in trace.parents.items() if not parent]
    assert [trace.tracks[uuid] for uuid in tops] == [f"lab ({Path(log.path).name})"]
    assert all(parent in trace.tracks for parent in trace.parents.values() if parent)


def test_counters_count_the_packets_in_the_kernel(sample: Exported) -> None:
    values = sample.trace.counters["packets in the kernel"]
    assert values[-1][1] == 0
    assert min(value for _, value in values) == 0
    columns = sample.session.columns
    begin, end = (columns.array("leg", name) for name in ("begin_ns", "end_ns"))
    busiest = max(int(((begin <= at) & (end > at)).sum()) for at in begin)
    assert max(value for _, value in values) == busiest


def test_the_request_chooses_packets(sample: Exported, tmp_path: Path) -> None:
    session = sample.session
    some = written(session, tmp_path, rows=(1, 3))
    assert {p for s in some.slices for p in s.packets} >= {"1", "3"}
    assert all(s.packets & {"1", "3"} for s in some.slices)
    found = session.packets.listed('kbl.layer == "transport"', None, True, all_lives=True)
    assert found is not None
    chosen = {str(n) if n > 0 else f"K{-n}" for n in found.tolist()}
    filtered = written(session, tmp_path, filter='kbl.layer == "transport"')
    assert all(s.packets & chosen for s in filtered.slices)
    overview = session.timeline.overview()
    none = written(session, tmp_path, times=(overview.t0_ns - 9, overview.t0_ns - 8))
    assert none.slices == [] and none.instants == []
    with pytest.raises(KeyError, match="no packet K99999"):
        written(session, tmp_path, rows=(-99999,))


def test_hosts_have_their_own_tracks_on_one_clock(tmp_path: Path) -> None:
    session = two_logs(tmp_path)
    trace = written(session, tmp_path)
    groups = {trace.tracks[u] for u, parent in trace.parents.items() if not parent}
    assert len(groups) == 2 and {name.split(" ")[0] for name in groups} == {"left", "right"}
    sent = [s for s in trace.slices if s.name == "dev_hard_start_xmit" and s.flows]
    received = [s for s in trace.slices if s.name == "__netif_receive_skb"]
    both = {flow for s in sent for flow in s.flows} & {f for s in received for f in s.flows}
    assert both


def test_points_of_other_tracers_are_instants(tmp_path: Path) -> None:
    events = [startup(), point(1000, "net:netif_receive_skb", 900)]
    events.append(point(2000, "ip_rcv", 900, type_="kprobe") | {"nft": {"verdict": "accept"}})
    import_files([build_retis.write(tmp_path / "retis.data", events)], tmp_path / "s.skbv")
    trace = written(Session.open(tmp_path / "s.skbv"), tmp_path)
    assert trace.slices == []
    assert [i.name for i in trace.instants] == ["seen at net:netif_receive_skb", "seen at ip_rcv"]
    assert trace.instants[1].at - trace.instants[0].at == 1000


def test_limits_and_missing_things_are_one_line(
    sample: Exported, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    out = tmp_path / "out.pftrace"
    monkeypatch.setattr(writer, "MOST", 10)
    with pytest.raises(BadInput, match="are more than 10: choose packets with '--filter'"):
        write_perfetto(sample.session, Request(), out)
    monkeypatch.undo()

    class Cancelling:
        def report(self, what: str, done: int, total: int) -> None:
            if what == "Writing calls":
                raise Cancelled

    with pytest.raises(Cancelled):
        write_perfetto(sample.session, Request(progress=Cancelling()), out)
    with pytest.raises(BadInput, match="cannot write"):
        write_perfetto(sample.session, Request(), tmp_path / "no" / "out.pftrace")
    frame = ethernet(ipv4("10.0.0.1", "10.0.0.2", 17, udp(1, 2)))
    import_files([write_pcap(tmp_path / "a.pcap", [(10**18, frame)])], tmp_path / "a.skbv")
    with pytest.raises(BadInput, match="no kernel log"):
        write_perfetto(Session.open(tmp_path / "a.skbv"), Request(), out)
    real = builtins.__import__

    def without(name: str, *rest: Any) -> Any:
        if name.startswith("perfetto") or (name == "" and "trace_head" in (rest[2] or ())):
            raise ModuleNotFoundError(name="perfetto")
        return real(name, *rest)

    monkeypatch.setattr(builtins, "__import__", without)
    with pytest.raises(BadInput, match=r"skbviewer\[perfetto\]"):
        write_perfetto(sample.session, Request(), out)
    assert [path.name for path in tmp_path.iterdir() if path.suffix == ".pftrace"] == []
    assert not list(tmp_path.glob(".*"))
