# SPDX-License-Identifier: MIT
"""Probe lists: names in, argument indices of a kernel's BTF out."""

from __future__ import annotations

import gzip
import lzma
import struct
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.lab.fixture import lab_recording as lab_recording
from tests.lab.record import KMOD, Recording, load_gen_probes

GEN = load_gen_probes()
SKB, PTR, PTR2, INT = 1, 2, 3, 4
TYPES: dict[int, dict[str, Any]] = {
    SKB: {"kind": "STRUCT", "name": "sk_buff"},
    PTR: {"kind": "PTR", "type_id": SKB},
    PTR2: {"kind": "PTR", "type_id": PTR},
    INT: {"kind": "INT", "name": "int"},
    5: {"kind": "CONST", "type_id": SKB},
    6: {"kind": "PTR", "type_id": 5},
}


def rows(path: Path) -> dict[str, list[str]]:
    """The lines of a generated list by name."""
    lines = [line.partition("#")[0].split() for line in path.read_text().splitlines()]
    return {words[0]: words[1:] for words in lines if words}


@pytest.mark.parametrize(
    ("params", "ret", "line"),
    [
        ([PTR], INT, "f 0 0 drop"),
        ([INT, 6], INT, "f 1 0 drop"),
        ([PTR2, INT], INT, "f *0 0 drop"),
        ([INT, PTR2], PTR, "f - 1 drop"),
        ([INT], PTR, "f - 1 drop"),
        ([INT], INT, None),
    ],
)
def test_argument_comes_from_the_prototype(params: list[int], ret: int, line: str | None) -> None:
    proto = {"kind": "FUNC_PROTO", "ret_type_id": ret, "params": [{"type_id": p} for p in params]}
    function = {"kind": "FUNC", "name": "f", "type_id": 9}
    btf = GEN.Btf(TYPES | {9: proto}, {"f": function})
    assert GEN.describe(btf, GEN.Wanted("f", "drop", "", "")) == line
    assert GEN.describe(btf, GEN.Wanted("g", "-", "", "")) is None


def test_bad_line_is_named(tmp_path: Path) -> None:
    names = tmp_path / "names.txt"
    names.write_text("# fine\nip_rcv\nip_output drop free\n")
    with pytest.raises(ValueError, match=r"names.txt:3: not 'name"):
        GEN.read_names(names)


@pytest.mark.parametrize("pack", [gzip.compress, lzma.compress])
def test_kernel_is_unpacked(pack: Callable[[bytes], bytes]) -> None:
    payload = pack(b"ELF of a kernel") + b"size"
    image = bytearray(1024)
    image[0x1F1], image[0x202:0x206] = 1, b"HdrS"
    struct.pack_into("<II", image, 0x248, 0, len(payload))
    assert GEN.unpack_image(bytes(image) + payload) == b"ELF of a kernel"
    assert GEN.unpack_image(b"\x7fELF") == b"\x7fELF"


def test_unknown_compression_is_an_error() -> None:
    image = bytearray(2048)
    image[0x1F1], image[0x202:0x206] = 1, b"HdrS"
    with pytest.raises(ValueError, match="compressed in an unknown way"):
        GEN.unpack_image(bytes(image))


def test_list_of_the_guests_kernel(lab_recording: Recording) -> None:
    made = rows(lab_recording.probes)
    known = {"tcp_v4_rcv": "0", "tcp_v4_do_rcv": "1", "ip_output": "2", "arp_process": "2"}
    known |= {"__udp4_lib_lookup": "8", "__alloc_skb": "-", "veth_xmit": "0"}
    assert {name: made[name][0] for name in known} == known
    assert len(made) >= 200


def test_committed_list_agrees_with_the_guests_kernel(lab_recording: Recording) -> None:
    made, committed = rows(lab_recording.probes), rows(KMOD / "probes-6.1.txt")
    both = made.keys() & committed.keys()
    assert len(both) > 0.95 * len(committed)
    assert {n: made[n] for n in both} == {n: committed[n] for n in both}
