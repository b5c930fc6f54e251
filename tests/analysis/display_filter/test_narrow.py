# SPDX-License-Identifier: MIT
"""Captures whose columns are a byte wide, as all values in them are small."""

from __future__ import annotations

import struct

import dpkt
import pytest

from skbviewer.analysis.fields.all_fields import FIELDS
from skbviewer.analysis.fields.field_definition import Kind
from skbviewer.session import Session, import_files

from .conftest import passed

NUMBERS = (Kind.UNSIGNED, Kind.BOOLEAN)


@pytest.fixture(scope="module")
def boot(tmp_path_factory: pytest.TempPathFactory) -> Session:
    """Two DHCP packets: no port above 68, no TCP, no ICMP."""
    folder = tmp_path_factory.mktemp("narrow")
    capture = folder / "boot.pcap"
    with capture.open("wb") as file:
        file.write(struct.pack("<IHHiIII", 0xA1B2C3D4, 2, 4, 0, 0, 65535, 1))
        for second in (1, 2):
            datagram = dpkt.udp.UDP(sport=68, dport=67, data=b"x", ulen=9)
            packet = dpkt.ip.IP(
                src=b"\0\0\0\0", dst=b"\xff\xff\xff\xff", p=17, id=second, data=datagram
            )
            packet.len = len(packet)
            frame = bytes(dpkt.ethernet.Ethernet(src=b"\2" * 6, dst=b"\xff" * 6, data=packet))
            file.write(struct.pack("<IIII", second, 0, len(frame), len(frame)) + frame)
    return Session.open(import_files([capture], folder / "s.skbv").path)


@pytest.mark.parametrize("name", [f.name for f in FIELDS.values() if f.kind in NUMBERS])
def test_every_number_can_be_asked_for(boot: Session, name: str) -> None:
    assert set(passed(boot, f"{name} == 1")) <= {1, 2}


def test_what_is_there_is_found(boot: Session) -> None:
    assert passed(boot, "udp.srcport & 0x40") == [1, 2]
    assert passed(boot, "udp.srcport & 0x100") == []
    assert passed(boot, "icmp.type in {3..5, 11}") == []
    assert passed(boot, "ip.id == 2") == [2]
