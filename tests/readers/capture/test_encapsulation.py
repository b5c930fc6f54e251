# SPDX-License-Identifier: MIT
"""One IPv4 packet is found behind what can stand between Ethernet and it; names for the rest."""

from __future__ import annotations

import random
import struct
from pathlib import Path

import pytest

from skbviewer import readers
from skbviewer.readers.capture.encapsulation import MAX_HEADERS
from skbviewer.readers.capture.link_layers import LINK_LAYERS
from skbviewer.records import Capture, Silent
from tests.readers.build import MAC_A, MAC_B, ethernet, write_pcap
from tests.readers.capture.test_linktype_names import A3, A4, PACKET, load, shows_the_packet
from tests.readers.capture.test_linktype_names import FRAMES as LINK_FRAMES

IP = b"\x08\x00"
INNER = ethernet(PACKET, src=A3, dst=A4)
ICV = bytes(range(16))
SECTAG = struct.pack(">BBI", 0x00, 0, 7)
SCI = MAC_A + b"\0\x01"
NSH = b"\0\0\x2a\xff"  # its service path
VLANS = ((0x88A8, 5), (0x8100, 6))


def nsh(following: int, words: int = 2) -> bytes:
    return struct.pack(">HBB", 0x0FC0 | words, 2, following) + NSH + bytes(4 * words - 8)


def stamp(version: int, size: int, subtype: int = 1) -> bytes:
    return struct.pack(">HH", subtype, version) + bytes(size) + IP


FRAMES = {
    "pbb": ethernet(struct.pack(">I", 5) + INNER, 0x88E7),
    "pbb in a b-tag": ethernet(struct.pack(">I", 5) + INNER, 0x88E7, vlans=((0x88A8, 9),)),
    "macsec": ethernet(SECTAG + IP + PACKET + ICV, 0x88E5),
    "macsec sci": ethernet(b"\x20" + SECTAG[1:] + SCI + IP + PACKET + ICV, 0x88E5),
    "macsec vlan": ethernet(SECTAG + b"\x81\0\0\x09" + IP + PACKET + ICV, 0x88E5),
    "vntag": ethernet(bytes(4) + IP + PACKET, 0x8926),
    "vntag vlan": ethernet(bytes(4) + b"\x81\0\0\x09" + IP + PACKET, 0x8926),
    "e-tag": ethernet(bytes(6) + IP + PACKET, 0x893F),
    "hsr": ethernet(bytes(4) + IP + PACKET, 0x892F),
    "r-tag": ethernet(bytes(4) + IP + PACKET, 0xF1C1),
    "nsh": ethernet(nsh(1) + PACKET, 0x894F),
    "nsh metadata": ethernet(nsh(1, 6) + PACKET, 0x894F),
    "nsh ethernet": ethernet(nsh(3) + INNER, 0x894F),
    "nsh nsh": ethernet(nsh(4) + nsh(1) + PACKET, 0x894F),
    "nsh mpls": ethernet(nsh(5) + b"\x00\x02\x01\x40" + PACKET, 0x894F),
    "fabricpath": ethernet(b"\x00\x40" + INNER, 0x8903),
    "trill": ethernet(b"\x00\x01\0\1\0\2" + INNER, 0x22F3),
    "trill options": ethernet(b"\x00\x81\0\1\0\2" + bytes(8) + INNER, 0x22F3),
    "arista 64 bits": ethernet(stamp(0x0010, 8) + PACKET, 0xD28B),
    "arista 48 bits": ethernet(stamp(0x0120, 6) + PACKET, 0xD28B),
    "bridging": ethernet(INNER, 0x6558),
    "jumbo llc": ethernet(bytes.fromhex("aaaa030000000800") + PACKET, 0x8870),
    "llc": ethernet(b"\x06\x06\x03" + PACKET, 3 + len(PACKET)),
    "two vlans": ethernet(PACKET, vlans=VLANS),
}


@pytest.mark.parametrize("name", FRAMES)
def test_packet_is_found(tmp_path: Path, name: str) -> None:
    found = load(tmp_path, 1, FRAMES[name])
    assert found.warnings == ()
    assert shows_the_packet(found.packets)
    assert found.packets["flags"].tolist() == [0]


@pytest.mark.parametrize("name", FRAMES)
def test_cut_anywhere_it_is_no_other_packet(tmp_path: Path, name: str) -> None:
    frame = FRAMES[name]
    for size in range(1, len(frame)):
        path = write_pcap(tmp_path / "b.pcap", [(0, frame)], snaplen=size)
        found = readers.read(path, Silent())
        assert isinstance(found, Capture)
        packet = found.packets[0]
        assert packet["flags"] == 1, "cut short, not malformed"
        assert packet["ip_id"] in (-1, 77)
        assert packet["sport"] in (-1, 1000)


def test_outer_addresses_count_but_fabricpath_has_none(tmp_path: Path) -> None:
    packets = load(tmp_path, 1, *(FRAMES[n] for n in ("pbb", "trill", "fabricpath"))).packets
    ends = [int.from_bytes(end, "big") for end in (MAC_A, MAC_B, A3, A4)]
    assert packets["eth_src"].tolist() == [ends[0], ends[0], ends[2]]
    assert packets["eth_dst"].tolist() == [ends[1], ends[1], ends[3]]


def test_outermost_vlan_and_last_ethertype_count(tmp_path: Path) -> None:
    names = ("two vlans", "pbb in a b-tag", "macsec vlan", "macsec", "nsh mpls")
    packets = load(tmp_path, 1, *(FRAMES[name] for name in names)).packets
    assert packets["vlan"].tolist() == [5, 9, 9, -1, -1]
    assert packets["ethertype"].tolist() == [0x800, 0x800, 0x800, 0x800, 0x8847]


def test_what_is_encrypted_stays_unknown(tmp_path: Path) -> None:
    encrypted = ethernet(b"\x0c" + SECTAG[1:] + IP + PACKET + ICV, 0x88E5)
    found = load(tmp_path, 1, encrypted)
    assert found.warnings == ()
    assert found.packets["ip_version"].tolist() == [0]
    assert found.packets["ethertype"].tolist() == [0x88E5]


def test_what_is_not_understood_is_named(tmp_path: Path) -> None:
    odd = ethernet(stamp(0x0010, 8, subtype=2) + PACKET, 0xD28B)
    batman = ethernet(bytes(20), 0x4305)
    inside_ppi = struct.pack("<BBHI", 0, 0, 8, 192) + bytes(30)
    frames = (odd, batman, ethernet(nsh(6) + PACKET, 0x894F), batman)
    found = load(tmp_path, 1, *frames)
    path = tmp_path / "a.pcap"
    why, unknown = "which skbviewer cannot dissect, so", "addresses stay unknown"
    assert found.warnings == (
        f"{path}: 2 packets carry batman-adv (EtherType 0x4305), {why} their {unknown}",
        f"{path}: 1 packet carries NSH (EtherType 0x894f), {why} its {unknown}",
        f"{path}: 1 packet carries Arista (EtherType 0xd28b), {why} its {unknown}",
    )
    assert found.packets["ethertype"].tolist() == [0xD28B, 0x4305, 0x894F, 0x4305]
    (warning,) = load(tmp_path, 192, inside_ppi).warnings
    assert f"1 packet carries LINKTYPE_PPI (192), {why}" in warning


def test_what_carries_no_ip_is_no_fault(tmp_path: Path) -> None:
    lldp, spanning_tree = ethernet(bytes(40), 0x88CC), ethernet(b"\x42\x42\x03" + bytes(35), 38)
    assert load(tmp_path, 1, lldp, spanning_tree).warnings == ()


def test_endless_nesting_ends(tmp_path: Path) -> None:
    tags = ((0x8100, 3),) * (MAX_HEADERS + 1)
    packets = load(
        tmp_path, 1, ethernet(PACKET, vlans=tags[1:]), ethernet(PACKET, vlans=tags)
    ).packets
    assert packets["ip_version"].tolist() == [4, 0]


def changed(frame: bytes, dice: random.Random) -> bytes:
    """The frame with some bytes replaced, cut somewhere."""
    made = bytearray(frame)
    for _ in range(dice.randrange(1, 6)):
        made[dice.randrange(min(len(made), 60))] = dice.choice((0, 1, 3, 8, 0x40, 0xFF))
    return bytes(made[: dice.randrange(len(made) + 1)])


@pytest.mark.parametrize("linktype", LINK_LAYERS)
def test_nonsense_is_read_without_fail(tmp_path: Path, linktype: int) -> None:
    """Random bytes and damaged frames are read, also where the last packet ends the file."""
    dice = random.Random(linktype)
    mine = [frame for kind, frame in LINK_FRAMES.values() if kind == linktype]
    mine += FRAMES.values() if linktype == 1 else []
    for _ in range(4):
        frames = [dice.randbytes(dice.randrange(90)) for _ in range(50)]
        frames += [changed(dice.choice(mine), dice) for _ in range(300)] if mine else []
        dice.shuffle(frames)
        assert len(load(tmp_path, linktype, *frames).packets) == len(frames)
