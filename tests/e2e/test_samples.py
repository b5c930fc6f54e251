# SPDX-License-Identifier: MIT
"""The bundled recordings, from the files to the answers."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import NamedTuple

import dpkt
import pytest

from skbviewer.records import PacketRow, resource
from skbviewer.session import Session
from tests.lab.identity import frames

from .samples import HEADING, NAMES, contents, open_sample


class Opened(NamedTuple):
    """A sample's session."""

    name: str
    session: Session
    warnings: tuple[str, ...]
    packets: list[PacketRow]


def opened(name: str, folder: Path) -> Opened:
    """Import one sample."""
    session, warnings = open_sample(name, folder)
    return Opened(
        name, session, warnings, list(session.packets.numbered(1, session.packets.count()))
    )


@pytest.fixture(scope="module", params=NAMES)
def sample(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Opened:
    """Each sample."""
    return opened(request.param, tmp_path_factory.mktemp("sample"))


def notes(session: Session, number: int) -> list[str]:
    """Return the details of the calls on a packet's path."""
    legs = session.paths.path(packet=number).legs
    return [call.note for leg in legs for call in leg.calls if call.note]


def test_nothing_is_odd_or_lost(sample: Opened) -> None:
    assert sample.warnings == ()
    assert sample.session.info()["lost_records"] == 0


def test_every_ipv4_packet_is_matched_exactly(sample: Opened) -> None:
    pcap = resource(f"samples/{sample.name}/{sample.name}.pcap")
    ipv4 = [isinstance(frame.data, dpkt.ip.IP) for _, frame in frames(pcap)]
    assert sum(ipv4) >= 6
    rows = zip(sample.packets, ipv4, strict=True)
    assert {p.number: p.reason for p, is_ipv4 in rows if is_ipv4 and p.verdict != "exact"} == {}


def test_no_two_packets_share_a_life(sample: Opened) -> None:
    owners = Counter(
        series
        for packet in sample.packets[:60]
        for series in {leg.series for leg in sample.session.paths.path(packet=packet.number).legs}
    )
    assert max(owners.values()) == 1


def test_readme_shows_this_recording(sample: Opened) -> None:
    text = (resource(f"samples/{sample.name}") / "README.md").read_text(encoding="utf-8")
    assert text.split(HEADING)[1].strip() == contents(sample.session).strip()


def test_samples_are_small() -> None:
    sizes = [path.stat().st_size for path in resource("samples").rglob("*.*")]
    assert len(sizes) >= 3 * (1 + len(NAMES))
    assert max(sizes) < 2_000_000
    assert sum(sizes) < 5_000_000


def test_dropped_packets_say_so(tmp_path: Path) -> None:
    drops = opened("drops", tmp_path)
    barred = [p for p in drops.packets if p.protocol_name == "UDP" and p.dport in (1009, 1010)]
    assert len(barred) > 12
    for packet in barred:
        assert any(note.startswith("drop") for note in notes(drops.session, packet.number))
    lost = drops.session.packets.kernel_only(1, 1000)
    assert len(lost) >= 25 - len(barred)


def test_masqueraded_packets_have_both_sides(tmp_path: Path) -> None:
    nat = opened("nat", tmp_path)
    for packet in nat.packets:
        if packet.saddr is not None:
            legs = nat.session.paths.path(packet=packet.number).legs
            assert {leg.device for leg in legs} >= {"vc", "vs"}, packet


def relations(session: Session, number: int) -> set[tuple[str, int]]:
    """Return the lifetimes before and after a packet's own, as (relation, series)."""
    return {(leg.relation, leg.series) for leg in session.paths.path(packet=number).branches}


def test_fragments_lead_to_the_packet_they_become(tmp_path: Path) -> None:
    """The last to come takes the content of the first."""
    session = opened("ipv6-and-fragments", tmp_path).session
    for first, last in ((3, 5), (6, 8), (23, 25), (26, 28)):
        own, whole = (session.paths.path(packet=n).legs[0].series for n in (first, last))
        assert relations(session, first) == {("into", whole)}
        assert relations(session, last) == {("merged", own)}


def test_segments_lead_to_what_they_were_cut_from_and_merged_into(tmp_path: Path) -> None:
    bulk = opened("bulk", tmp_path)
    session, seen = bulk.session, Counter[str]()
    own = {
        p.number: {leg.series for leg in session.paths.path(packet=p.number).legs}
        for p in bulk.packets
    }
    for packet in bulk.packets:
        for relation, other in relations(session, packet.number):
            seen[relation] += 1
            if relation == "into":
                (target,) = (n for n, series in own.items() if other in series)
                assert {("merged", s) for s in own[packet.number]} & relations(session, target)
    assert seen["into"] > 150 and seen["merged"] > 80 and seen["parent"] > 170


def test_bulk_has_hundreds_of_packets(tmp_path: Path) -> None:
    assert 200 <= len(opened("bulk", tmp_path).packets) <= 900


def test_locks_and_routes_are_inside_the_calls_of_packets(tmp_path: Path) -> None:
    """Without them, their self times are those of the calls around them."""
    made = opened("locks-and-routes", tmp_path)
    found, own = Counter[str](), [0, 0]
    for shown in (True, False):
        made.session.show_inner(shown)
        for packet in made.packets:
            for leg in made.session.paths.path(packet=packet.number).legs:
                found.update(call.function for call in leg.calls if call.inner)
                own[shown] += sum(call.self_ns or 0 for call in leg.calls)
                assert all(call.inner or call.parent >= 0 or call.depth == 0 for call in leg.calls)
        if shown:
            assert set(found) >= {"fib_table_lookup", "__neigh_create", "kmem_cache_free"}
            found.clear()
    assert not found and own[0] == own[1] > 0
