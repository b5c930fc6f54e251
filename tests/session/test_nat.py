# SPDX-License-Identifier: MIT
"""A packet of which the capture has the outer address is found by the inner one, too."""

from __future__ import annotations

import pytest

from skbviewer.records import resource
from skbviewer.session import Session, import_files

INSIDE, ROUTER, SERVER = "10.9.1.2", "10.9.2.1", "10.9.2.2"


@pytest.fixture(scope="module")
def session(tmp_path_factory: pytest.TempPathFactory) -> Session:
    out = tmp_path_factory.mktemp("nat") / "nat.skbv"
    import_files([resource(f"samples/nat/nat.{end}") for end in ("pcap", "kbl")], out)
    return Session.open(out)


def found(session: Session, text: str) -> list[int]:
    ids = session.packets.listed(text)
    return list(range(1, session.packets.count() + 1)) if ids is None else ids.tolist()


def test_every_ip_packet_names_the_client_behind_the_router(session: Session) -> None:
    for packet in session.packets.numbered(1, session.packets.count()):
        if packet.saddr == ROUTER:
            assert packet.elsewhere == ((INSIDE, SERVER),)
        elif packet.saddr == SERVER:
            assert packet.elsewhere == ((SERVER, INSIDE),)
        else:
            assert packet.elsewhere == ()


def test_legs_tell_where_the_address_changed(session: Session) -> None:
    sent, forwarded, received = session.paths.path(packet=7).legs
    assert sent.addresses == ((INSIDE, SERVER),)
    assert forwarded.addresses == ((ROUTER, SERVER),)
    assert received.addresses == ()  # as before


def test_filters_find_the_client(session: Session) -> None:
    assert found(session, f"ip.addr == {INSIDE}") == []  # no byte of the capture has it
    by_ip = found(session, "ip")
    assert found(session, f"kbl.addr == {INSIDE}") == by_ip
    assert found(session, f"kbl.src == {INSIDE}") == found(session, f"ip.src == {ROUTER}")
    assert found(session, f"kbl.dst == {INSIDE}") == found(session, f"ip.dst == {ROUTER}")
    assert found(session, "kbl.addr == 10.9.1.0/24") == by_ip
