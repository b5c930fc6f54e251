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
SKB, PTR, PTR2, INT, SOCK, QUEUE, BOOL, LONG = 1, 2, 3, 4, 8, 10, 11, 12
TYPES: dict[int, dict[str, Any]] = {
    SKB: {"kind": "STRUCT", "name": "sk_buff"},
    PTR: {"kind": "PTR", "type_id": SKB},
    PTR2: {"kind": "PTR", "type_id": PTR},
    INT: {"kind": "INT", "name": "int", "size": 4},
    5: {"kind": "CONST", "type_id": SKB},
    6: {"kind": "PTR", "type_id": 5},
    7: {"kind": "STRUCT", "name": "sock"},
    SOCK: {"kind": "PTR", "type_id": 7},
    9: {"kind": "STRUCT", "name": "sk_buff_head"},
    QUEUE: {"kind": "PTR", "type_id": 9},
    BOOL: {"kind": "INT", "name": "_Bool", "size": 1},
    LONG: {"kind": "INT", "name": "long", "size": 8},
}
VOID = 0


def rows(path: Path) -> dict[str, list[str]]:
    """The lines of a generated list by name."""
    lines = [line.partition("#")[0].split() for line in path.read_text().splitlines()]
    return {words[0]: words[1:] for words in lines if words}


def btf_of(params: list[int], ret: int) -> Any:
    """The BTF of a kernel whose one function is f."""
    proto = {"kind": "FUNC_PROTO", "ret_type_id": ret, "params": [{"type_id": p} for p in params]}
    function = {"kind": "FUNC", "name": "f", "type_id": 99}
    return GEN.Btf(TYPES | {99: proto}, {"f": function})


@pytest.mark.parametrize(
    ("params", "ret", "line"),
    [
        ([PTR], INT, "f skb@0 drop int"),
        ([INT, 6, PTR], VOID, "f skb@1 skb@2 drop void"),
        ([PTR2, INT], BOOL, "f skbp@0 drop bool"),
        ([INT, PTR2], PTR, "f skb@ret drop"),
        ([PTR, PTR, PTR, PTR, PTR], PTR, "f skb@0 skb@1 skb@2 skb@ret drop"),
        ([SOCK, PTR], LONG, "f skb@1 drop"),
        ([QUEUE, PTR], INT, "f skb@1 drop int"),
        ([SOCK, QUEUE], INT, "f queue@1 drop int"),
        ([INT, SOCK, SOCK], INT, "f sock@1 drop int"),
        ([INT], INT, "f drop int"),
    ],
)
def test_carriers_come_from_the_prototype(params: list[int], ret: int, line: str) -> None:
    btf = btf_of(params, ret)
    assert GEN.describe(btf, GEN.Wanted("f", "drop")) == line
    assert GEN.describe(btf, GEN.Wanted("g")) is None
    given = GEN.Wanted("f", "drop", "m", ("list@3",), "void", quiet=True)
    assert GEN.describe(btf, given) == "f list@3 drop module=m void quiet"


def test_compilers_copy_is_believed() -> None:
    copy = GEN.Wanted("f.isra.0", carriers=("skb@1",))
    assert GEN.describe(btf_of([INT], INT), copy) == "f.isra.0 skb@1"


@pytest.mark.parametrize(("params", "ret"), [([PTR], INT), ([], PTR), ([INT, PTR2], INT)])
def test_everything_is_what_touches_an_skb(params: list[int], ret: int) -> None:
    touching, other = btf_of(params, ret), btf_of([SOCK, INT], INT)
    assert GEN.everything({"": touching, "m": other}, []) == [GEN.Wanted("f")]
    assert GEN.everything({"": touching}, [GEN.Wanted("f", "free")]) == []


@pytest.mark.parametrize(
    "words", ["drop free", "skb@15", "skb@0 skb@1 skb@2 skb@3 skb@4", "module=", "what", "int void"]
)
def test_bad_line_is_named(tmp_path: Path, words: str) -> None:
    names = tmp_path / "names.txt"
    names.write_text(f"# fine\nip_rcv\nip_output {words}\n")
    with pytest.raises(ValueError, match=r"names.txt:3: not 'NAME"):
        GEN.read_names(names)


def test_line_is_read_and_written_alike() -> None:
    assert GEN.line_of(GEN.read_line("f module=m int inner")) == "f module=m int inner"
    assert GEN.read_line("f skb@0 inner") is None
    line = "f skb@1 sock@0 sock_enqueue module=m int quiet"
    assert GEN.line_of(GEN.read_line(line)) == line


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
    with pytest.raises(ValueError, match="compressed in a format"):
        GEN.unpack_image(bytes(image))


def test_list_of_the_guests_kernel(lab_recording: Recording) -> None:
    made = rows(lab_recording.probes)
    known = {"tcp_v4_rcv": "skb@0", "tcp_v4_do_rcv": "skb@1", "ip_output": "skb@2"}
    known |= {"__udp4_lib_lookup": "skb@8", "__alloc_skb": "skb@ret", "veth_xmit": "skb@0"}
    known |= {"tcp_sendmsg": "sock@0", "ip_list_rcv": "list@0"}
    assert {name: made[name][0] for name in known} == known
    assert len(made) >= 200


def test_committed_list_agrees_with_the_guests_kernel(lab_recording: Recording) -> None:
    made, committed = rows(lab_recording.probes), rows(KMOD / "probes-6.1.txt")
    both = made.keys() & committed.keys()
    assert len(both) > 0.95 * len(committed)
    assert {n: made[n] for n in both} == {n: committed[n] for n in both}
