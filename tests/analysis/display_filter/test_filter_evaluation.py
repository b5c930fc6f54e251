# SPDX-License-Identifier: MIT
"""Filters on what the kernel did, against plain Python over the paths that views show."""

from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager
from ipaddress import ip_address
from pathlib import Path

import numpy as np
import pytest

from skbviewer.analysis.display_filter import FilterError, expression_for
from skbviewer.analysis.fields.all_fields import FIELDS
from skbviewer.analysis.fields.field_definition import Kind
from skbviewer.analysis.fields.field_source_tables import Data
from skbviewer.records import Annotation, BadInput, Cancelled, PacketPath, resource
from skbviewer.session import Session, import_files
from skbviewer.store import Database

from .conftest import SAMPLES, Opened, passed
from .row_by_row import KERNEL


def paths(session: Session) -> dict[int, PacketPath]:
    found = {n: session.paths.path(packet=n) for n in range(1, session.packets.count() + 1)}
    rows = session.packets.kernel_only(1, session.packets.kernel_only_count())
    return found | {
        -n: session.paths.path(series=row.series) for n, row in enumerate(rows, start=1)
    }


@pytest.mark.parametrize("name", SAMPLES)
def test_filters_mean_what_plain_python_says(name: str, sample: Opened) -> None:
    session = sample(name)
    found = paths(session)
    for text, condition in KERNEL.items():
        wanted = {n for n, path in found.items() if condition(path)}
        if "udp" in text and text.startswith("!"):
            wanted |= {n for n in found if n < 0} & set(passed(session, text, True))
        assert set(passed(session, text, kernel_only=True)) == wanted, text


def test_every_condition_holds_somewhere(sample: Opened) -> None:
    found = [path for name in SAMPLES for path in paths(sample(name)).values()]
    never = [text for text, condition in KERNEL.items() if not any(map(condition, found))]
    assert never == []


def test_rows_of_the_kernel_alone_have_the_identity_of_their_record(sample: Opened) -> None:
    session = sample("drops")
    lost = passed(session, "udp.dstport == 1010 && ip.src == 10.9.0.1", kernel_only=True)
    assert [n for n in lost if n < 0] == [-1, -2, -3]
    assert passed(session, "kbl.drop_reason == QDISC_DROP", kernel_only=True) == [-1, -2, -3]
    assert passed(session, "frame && udp.port == 1010", True) == [n for n in lost if n > 0]
    assert not any(n < 0 for n in passed(session, "tcp[0:2] || eth.src || frame.number", True))


def test_rows_come_by_time_with_those_of_the_kernel(sample: Opened) -> None:
    session = sample("drops")
    ids = session.packets.select("", kernel_only=True)
    assert ids is not None and len(ids) == 33
    times = [float(text) for text in session.fields.values("frame.time_epoch", ids.tolist())]
    assert times == sorted(times)
    assert 1 < ids.tolist().index(-1) < 32


@pytest.mark.parametrize(
    "text",
    ["udp", "kbl.func == udp_rcv", "kbl.drop_reason == QDISC_DROP", "tcp.analysis.flags",
     "eth[0] & 1", "frame.time_delta > 0.001", "ip.dsfield == 0xc0", "udp.stream == 2",
     "kbl.dev == vs"],
)  # fmt: skip
def test_some_rows_pass_as_all_do(text: str, sample: Opened) -> None:
    session = sample("drops")
    ids = np.array([4, -1, 30, 1, 2, 5, -3, 10, 14, 15], np.int64)
    whole = passed(session, text, kernel_only=True)
    assert session.packets.first_fit([text], ids) == [0 if n in whole else -1 for n in ids.tolist()]


def test_everything_costs_nothing(sample: Opened) -> None:
    assert sample("drops").packets.select("") is None
    assert sample("drops").packets.select("  ") is None


@pytest.mark.parametrize("descending", [False, True])
@pytest.mark.parametrize("name", ["frame.len", "ip.src", "ipv6.dst", "kbl.latency", "udp.srcport"])
def test_order_is_stable_and_unknown_comes_last(
    name: str, descending: bool, sample: Opened
) -> None:
    session = sample("ipv6-and-fragments")
    ids = session.packets.select("", (name, descending))
    assert ids is not None and sorted(ids.tolist()) == list(range(1, session.packets.count() + 1))
    known = set(passed(session, name))
    assert {n in known for n in ids[: len(known)].tolist()} == {True}
    texts = dict(zip(ids.tolist(), session.fields.values(name, ids.tolist()), strict=True))
    ranks = [_rank(name, texts[n]) for n in ids.tolist() if n in known]
    assert ranks == sorted(ranks, reverse=descending)
    for first, second in zip(ids.tolist(), ids.tolist()[1:], strict=False):
        if texts[first] == texts[second]:
            assert first < second


def _rank(name: str, text: str) -> float:
    is_address = FIELDS[name].kind in (Kind.IPV4, Kind.IPV6)
    return int(ip_address(text)) if is_address else float(text)


def test_order_by_calls_takes_the_longest(sample: Opened) -> None:
    session = sample("drops")
    ids = session.packets.select("", ("kbl.dur", True))
    assert ids is not None
    longest = [
        max((call.dur_ns or -1 for leg in path.legs for call in leg.calls), default=-1)
        for path in (session.paths.path(packet=n) for n in ids.tolist())
    ]
    assert longest == sorted(longest, reverse=True)


def test_hidden_rows_are_left_out(sample: Opened) -> None:
    session = sample("drops")
    hidden = np.array([2, 5, -2], np.int64)
    ids = session.packets.select("", kernel_only=True, hidden=hidden)
    assert ids is not None and len(ids) == 30 and not {2, 5, -2} & set(ids.tolist())
    assert session.packets.select("udp", hidden=hidden).tolist()[0] == 6  # type: ignore[union-attr]


def test_a_filter_made_of_any_cell_finds_its_row(sample: Opened) -> None:
    """What a column shows, Apply as Filter must find."""
    session = sample("drops")
    for name, field in FIELDS.items():
        for row in (1, 4, 10, -1):
            text = session.fields.values(name, [row])[0]
            if text and "," not in text:
                made = expression_for(name, text)
                if field.kind is Kind.FLOAT and text != "1":
                    continue  # shortened
                assert row in passed(session, made, kernel_only=True), made


def test_unknown_fields_are_reported(sample: Opened) -> None:
    session = sample("drops")
    with pytest.raises(KeyError, match=r"no field ip\.nothing"):
        session.packets.select("", ("ip.nothing", False))
    with pytest.raises(KeyError):
        session.fields.values("ip.nothing", [1])
    with pytest.raises(FilterError):
        session.packets.select("ip.nothing")


def test_bytes_need_the_file(tmp_path: Path) -> None:
    capture = tmp_path / "a.pcap"
    capture.write_bytes((resource("samples/drops") / "drops.pcap").read_bytes())
    session = Session.open(import_files([capture], tmp_path / "s.skbv").path)
    assert passed(session, 'frame contains "a"')
    capture.rename(tmp_path / "b.pcap")
    with pytest.raises(BadInput, match="cannot be read"):
        session.packets.select('frame contains "a"')
    assert passed(session, "eth[0] & 1") == [1]  # columns tell these bytes
    assert passed(session, "tcp.analysis.flags") == []


def test_searching_bytes_can_be_stopped(sample: Opened) -> None:
    class Stop:
        def report(self, what: str, done: int, total: int) -> None:
            assert what and 0 <= done <= total
            raise Cancelled

    for text in ('frame contains "a"', "tcp[0:9] == 00:01:02:03:04:05:06:07:08", "ip.dsfield == 0"):
        with pytest.raises(Cancelled):
            sample("drops").packets.select(text, progress=Stop())


def test_known_words(sample: Opened) -> None:
    session = sample("drops")
    assert "ip_rcv" in session.fields.texts("kbl.func")
    assert "NETFILTER_DROP" in session.fields.texts("kbl.drop_reason")
    assert session.fields.texts("kbl.dev") == ["lo", "vc", "vs"]
    assert session.fields.texts("ip.src") == [] and session.fields.texts("nothing") == []


def test_flags_and_comments_are_fields(tmp_path: Path) -> None:
    files = [resource("samples/drops") / f"drops.{kind}" for kind in ("pcap", "kbl")]
    session = Session.open(import_files(files, tmp_path / "s.skbv").path)
    session.notes.set_flags("mark", np.array([3, 7, -2], np.int64))
    session.notes.set_flags("ignore", np.array([4], np.int64))
    session.notes.set_flags("time_ref", np.array([5], np.int64))
    assert set(passed(session, "frame.marked == 1", True)) == {3, 7, -2}
    assert passed(session, "frame.ignored == 1", True) == [4]
    assert passed(session, "frame.ref_time == 1") == [5]
    assert session.fields.values("frame.marked", [3, 4]) == ["True", "False"]
    series = session.packets.kernel_only(2, 1)[0].series
    session.notes.keep(Annotation("comment", "look here", packet=9))
    session.notes.keep(Annotation("comment", "lost", series=series))
    session.notes.keep(Annotation("comment", "and here", packet=9))
    assert set(passed(session, "frame.comment", True)) == {9, -2}
    assert passed(session, 'frame.comment contains "and"') == [9]
    assert session.fields.values("frame.comment", [9, -2, 1]) == ["look here\nand here", "lost", ""]


def no_database() -> AbstractContextManager[Database]:
    raise AssertionError("nothing asks the database")


def test_what_is_kept_is_made_once_and_blocks_nobody_else(sample: Opened) -> None:
    data = Data(sample("drops").columns, no_database, tuple, lambda source, times: times)
    begun, go_on, made = threading.Event(), threading.Event(), []

    def slow() -> str:
        begun.set()
        assert go_on.wait(10)
        made.append("slow")
        return "slow"

    with ThreadPoolExecutor(2) as pool:
        waiting = [pool.submit(data.cached, "slow", slow) for _ in range(2)]
        assert begun.wait(10)
        assert data.cached("quick", lambda: "quick") == "quick"
        go_on.set()
        assert [one.result(10) for one in waiting] == ["slow", "slow"]
    assert made == ["slow"]
