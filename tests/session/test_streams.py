# SPDX-License-Identifier: MIT
"""Following a stream of a real recording shows the known content of the traffic."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from skbviewer.records import resource
from skbviewer.session import Session, import_files


@pytest.fixture
def session(tmp_path: Path) -> Iterator[Session]:
    capture = tmp_path / "handshake.pcap"
    capture.write_bytes(resource("samples/handshake/handshake.pcap").read_bytes())
    import_files([capture], tmp_path / "s.skbv")
    opened = Session.open(tmp_path / "s.skbv")
    yield opened
    opened.close()


def first(session: Session, protocol: int) -> int:
    rows = session.packets.numbered(1, session.packets.count())
    return next(row.number for row in rows if row.protocol == protocol)


def test_both_ends_of_a_tcp_connection(session: Session) -> None:
    number = first(session, 6)
    stream = session.contents.stream(number)
    row = session.packets.numbered(number, 1)[0]
    assert stream.ends == (f"{row.saddr}:{row.sport}", f"{row.daddr}:{row.dport}")
    assert stream.unread == 0 and not any(piece.missing for piece in stream.pieces)
    asked, answered = (
        b"".join(piece.data for piece in stream.pieces if piece.side == side) for side in (0, 1)
    )
    assert asked and asked == answered  # the peer is an echo server
    wire = sum(len(piece.data) for piece in stream.pieces)
    shown = session.packets.select(stream.text)
    assert shown is not None and stream.packets == len(shown)
    payloads = session.fields.values("tcp.len", shown.tolist())
    assert wire == sum(map(int, payloads))


def test_udp(session: Session) -> None:
    stream = session.contents.stream(first(session, 17))
    assert stream.protocol == "UDP" and stream.text.startswith("udp.stream == ")
    assert stream.pieces[0].data and stream.pieces[0].side == 0


def test_what_has_no_stream_and_what_cannot_be_read(session: Session) -> None:
    with pytest.raises(KeyError, match="stream to follow"):
        session.contents.stream(first(session, 1))
    Path(session.sources()[0].path).unlink()
    stream = session.contents.stream(first(session, 6))
    assert stream.unread == stream.packets
    assert b"".join(piece.data for piece in stream.pieces) == b""
