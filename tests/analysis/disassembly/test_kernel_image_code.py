# SPDX-License-Identifier: MIT
"""Listings of small images, compared with objdump."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

from skbviewer.analysis.disassembly import LogKernel, Marks, check_build, disassemble
from skbviewer.analysis.disassembly.kernel_image_code import NO_END, NO_LINES
from skbviewer.readers.kernel_image import read_image
from skbviewer.records import BadInput
from tests.readers.build_kernel_image import BANNER, LINKED, Function, build, strip

RUNS = 0xFFFFFFFF9A000000  # where KASLR put the kernel
FUNCTIONS = [
    Function("ip_rcv", 0x1000, {0x40: "nf_hook_slow", 0x60: "ip_local_deliver"}),
    Function("ip_local_deliver", 0x1090, {0x30: "tcp_v4_rcv"}),
]
NOTHING = Marks({}, {})


def log(**others: object) -> LogKernel:
    made = LogKernel(
        1, "6.1.0", "#1 SMP", "x86_64", RUNS,
        {one.name: RUNS + one.at for one in FUNCTIONS}, {"veth_xmit": "veth"},
        {RUNS + 0x1040: "ip_rcv+0x40"},
    )  # fmt: skip
    return made._replace(**others)  # type: ignore[arg-type]


@pytest.fixture(scope="module")
def image(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return build(tmp_path_factory.mktemp("image"), FUNCTIONS, BANNER.format("6.1.0", "#1 SMP"))


def by_objdump(image: Path, begin: int, end: int) -> dict[int, bytes]:
    """Bytes of each instruction by address."""
    places = [f"--start-address={begin:#x}", f"--stop-address={end:#x}"]
    command = ["objdump", "-d", "-w", *places, str(image)]
    listed = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    rows = re.findall(r"^\s*(\w+):\t((?:\w\w )+)", listed, re.MULTILINE)
    return {int(at, 16): bytes.fromhex(data) for at, data in rows}


@pytest.mark.parametrize("function", [one.name for one in FUNCTIONS])
@pytest.mark.parametrize("symbols", [True, False])
def test_instructions_are_those_of_objdump(function: str, symbols: bool, image: Path) -> None:
    read = read_image(image if symbols else strip(image))
    shown = disassemble(read, log(), function, NOTHING)
    symbol = read_image(image).symbols
    size = int(symbol.sizes[symbol.names.index(function)])
    assert (shown.begin, shown.end - shown.begin) == (log().probed[function] - RUNS + LINKED, size)
    wanted = by_objdump(image, shown.begin, shown.end)
    assert {one.address: one.data for one in shown.instructions} == wanted and len(wanted) > 10
    assert (NO_END in shown.notes) == (NO_LINES in shown.notes) == (not symbols)


def test_names_lines_and_marks(image: Path) -> None:
    begin = LINKED + 0x1000
    marks = Marks({begin + 0x40: 3}, {begin + 0x60: {"ip_local_deliver": 7, "__x": 9}})
    shown = disassemble(read_image(image), log(), "ip_rcv", marks)
    rows = {one.offset: one for one in shown.instructions}
    first, hook, deliver = rows[0], rows[0x40 - 5], rows[0x60 - 5]
    assert (first.kind, first.name) == ("call", "__fentry__")
    assert (hook.name, hook.drops, hook.calls) == ("nf_hook_slow", 3, ())
    assert (deliver.name, deliver.calls) == (
        "ip_local_deliver",
        (("__x", 9), ("ip_local_deliver", 7)),
    )
    jump = next(one for one in shown.instructions if one.mnemonic == "je")
    assert jump.target is not None and jump.name == f"+{jump.target - begin:#x}" == "+0x60"
    lines = Path(image.with_name("code.S")).read_text().splitlines()
    for one in shown.instructions:
        if one.source is not None and one.mnemonic != "nop":
            assert lines[one.source.line - 1].split()[0] == one.mnemonic
    assert sum(one.drops for one in shown.instructions) == 3


def test_an_image_without_symbols_has_the_names_of_the_log(image: Path) -> None:
    shown = disassemble(read_image(strip(image)), log(), "ip_rcv", NOTHING)
    names = {one.offset: one.name for one in shown.instructions if one.kind == "call"}
    assert names == {0: "", 0x40 - 5: "", 0x60 - 5: "ip_local_deliver"}


@pytest.mark.parametrize(
    ("function", "why"),
    [
        ("nosuch", "neither the image nor the recording has a function nosuch"),
        ("veth_xmit", "has no code of veth_xmit: it is in the module veth"),
        ("far", "has no code of far"),
    ],
)
def test_functions_without_code(function: str, why: str, image: Path) -> None:
    known = log(probed={"far": RUNS + 0x7000000, "ip_rcv": RUNS + 0x1000})
    with pytest.raises(BadInput, match=why):
        disassemble(read_image(image), known, function, NOTHING)


@pytest.mark.parametrize(
    ("others", "why"),
    [
        ({"release": "6.12.1"}, r"another build: 6\.1\.0 #1 SMP; the recording is of 6\.12\.1"),
        ({"build": "#2 SMP"}, "another build"),
        ({"arch": "aarch64"}, "is for EM_X86_64, the recording is of EM_AARCH64"),
        ({"probed": {"ip_rcv": RUNS + 0x1010}},
         r"another build: ip_rcv is at _stext\+0x1000 in the image, but at _stext\+0x1010 in"),
        ({"probed": {"tcp_ack": RUNS}}, "contains no symbol of a probed function"),
    ],
)  # fmt: skip
def test_images_of_other_builds(others: dict[str, object], why: str, image: Path) -> None:
    check_build(read_image(image), log())
    with pytest.raises(BadInput, match=why):
        check_build(read_image(image), log(**others))


def test_an_image_that_says_nothing_of_itself(tmp_path: Path) -> None:
    made = build(tmp_path, FUNCTIONS)
    check_build(read_image(made), log())
    with pytest.raises(BadInput, match="no symbols and no version"):
        check_build(read_image(strip(made)), log())


def test_without_capstone(image: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "capstone", None)
    with pytest.raises(BadInput, match=r"the extra disassembly, 'skbviewer\[disassembly\]'"):
        disassemble(read_image(image), log(), "ip_rcv", NOTHING)
