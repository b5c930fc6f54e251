# SPDX-License-Identifier: MIT
"""Functions that take a list of packets belong to the path of each of them."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from skbviewer.analysis.stats import Chosen, function_rows, layer_table
from skbviewer.readers import read
from skbviewer.records import Silent
from skbviewer.records.kbl_layout import KblEvent
from skbviewer.session import Session, import_files
from skbviewer.session.importing import Input, store_inputs
from skbviewer.store import Builder
from tests.matching.story import HOST, HOUR, capture, udp4, udp4_frame
from tests.readers.build import write_pcap
from tests.readers.build_kbl import KblBuilder

A, B = 0xFFFF888000001000, 0xFFFF888000002000


def listed(rest: int) -> KblBuilder:
    """Two packets received as one list; ip_rcv_core sees each by itself."""
    build = KblBuilder(3)
    receive, core = build.probe("ip_list_rcv"), build.probe("ip_rcv_core")
    free = build.probe("kfree_skbmem", KblEvent.FREE)
    build.task(900, 0, 1, 7, "ksoftirqd/0")
    for number, skb in enumerate((A, B), start=1):
        build.event(950, 0, KblEvent.ALLOC, skb, 256, context=1)
        build.footprint(1000, 0, skb, ipv4=udp4(number), skbinfo=HOST, context=1)
    build.carry(1000, 0, B, 1, rest)
    build.clock(0, 10**18 - 1000)
    for ts in (0, HOUR):  # the log begins before the packets, and ends after them
        build.call(ts, 0, build.probe("net_rx_action"), 0, 1, context=1)
    build.call(1100, 0, core, A, 50, context=1)
    build.call(1200, 0, core, B, 70, context=1)
    build.call(1000, 0, receive, A, 900, context=1)
    for ts, skb in ((2000, A), (2100, B)):
        build.event(ts, 0, KblEvent.FREE, skb, context=1)
        build.call(ts, 0, free, skb, 10, context=1)
    build.calibration = {"tau_empty": 10, "tau_nested": 20}
    return build


def test_each_packet_has_the_call(tmp_path: Path) -> None:
    log = read(listed(3).write(tmp_path / "a.kbl"), Silent())
    packets = capture(tmp_path, [(10**18, udp4_frame(1)), (10**18 + 9, udp4_frame(2))])
    with Builder(tmp_path / "a.skbv") as builder:
        store_inputs([Input(log, 1, "ab"), Input(packets, 1, "cd")], builder, Silent())
        builder.finish()
    session = Session.open(tmp_path / "a.skbv")
    legs = [session.paths.path(packet=number).legs[0] for number in (1, 2)]
    for leg, inner in zip(legs, (50, 70), strict=True):
        assert [(c.function, c.depth, c.dur_ns) for c in leg.calls] == [
            ("ip_list_rcv", 0, 900),
            ("ip_rcv_core", 1, inner),
            ("kfree_skbmem", 0, 10),
        ]
        assert leg.calls[0].comp_ns == 900 - 10 - 2 * 20 - 3 * 10  # two footprints and the CARRY
        assert {call.comm for call in leg.calls} == {"ksoftirqd/0"}
    notes = [leg.calls[0].note for leg in legs]
    assert notes == ["", "packet 2 of the call, 3 more packets are not shown"]


def test_the_call_took_itself_the_same_for_each_packet(tmp_path: Path) -> None:
    """Inner calls that handle other packets are never part of its self time."""
    listed(0).write(tmp_path / "a.kbl")
    write_pcap(tmp_path / "a.pcap", [(10**18, udp4_frame(1)), (10**18 + 9, udp4_frame(2))])
    import_files([tmp_path / "a.kbl", tmp_path / "a.pcap"], tmp_path / "a.skbv")
    session = Session.open(tmp_path / "a.skbv")
    for meant in (None, [1], [2]):
        scope = session.stats.scope(Chosen(None if meant is None else np.array(meant)))
        own = {row.function: (row.number, row.self_ns) for row in function_rows(scope)}
        assert own["ip_list_rcv"] == (1, 900 - 50 - 70)
        busy = {row.layer: row.total_ns for row in layer_table(scope).rows if row.kind == "busy"}
        assert sum(busy.values()) == sum(ns for _, ns in own.values())
    session.close()


def test_two_packets_of_a_call_may_be_of_one_life(tmp_path: Path) -> None:
    """A clone that reaches no driver belongs to its parent, in whose call later records are."""
    build = KblBuilder(3)
    clone = build.probe("skb_clone", KblEvent.CLONE)
    copy, put = build.probe("__copy_skb_header"), build.probe("skb_put")
    build.task(900, 0, 1, 7, "nc")
    build.event(910, 0, KblEvent.ALLOC, A)
    build.event(1010, 0, KblEvent.CLONE, A, B)
    build.call(1000, 0, clone, A, 10)
    build.carry(1100, 0, A, 1)
    build.call(1110, 0, put, A, 20)
    build.call(1100, 0, copy, B, 90)
    log = read(build.write(tmp_path / "a.kbl"), Silent())
    with Builder(tmp_path / "a.skbv") as builder:
        store_inputs([Input(log, 1, "ab")], builder, Silent())
        builder.finish()
    (leg,) = Session.open(tmp_path / "a.skbv").paths.path(series=1).legs
    assert [(c.function, c.depth, c.parent, c.self_ns) for c in leg.calls] == [
        ("skb_clone", 0, -1, 10),
        ("__copy_skb_header", 0, -1, 70),
        ("__copy_skb_header", 1, 1, 70),
        ("skb_put", 2, 2, 20),
    ]
