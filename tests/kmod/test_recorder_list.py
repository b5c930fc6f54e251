# SPDX-License-Identifier: MIT
"""Probe lists as kblrecord reads them, -l, the life set, builds for other machines, the manual."""

from __future__ import annotations

import os
import platform
import re
import shutil
import signal
import subprocess
from pathlib import Path

import pytest

from tests.kmod.recorder import KMOD, STEXT, Fake, built, calls, compile_c
from tests.lab.kbl_check import probes, read

SOURCES = [KMOD / "kblrecord.c", *sorted(KMOD.glob("rec_*.c"))]


@pytest.fixture
def fake(tmp_path: Path) -> Fake:
    """A module that has recorded nothing."""
    return Fake(tmp_path / "kbl")


def test_list_is_as_dtrace_has_it(fake: Fake) -> None:
    (fake.folder / "list.txt").write_text("ip_rcv skb@0\nveth_xmit skb@0 module=veth\ngone skb@0\n")
    done = fake.run("-l")
    assert done.returncode == 0
    assert [line.split() for line in done.stdout.splitlines()] == [
        ["ID", "PROVIDER", "MODULE", "FUNCTION", "NAME"],
        ["0", "kbl", "vmlinux", "ip_rcv", "entry"],
        ["0", "kbl", "vmlinux", "ip_rcv", "return"],
        ["1", "kbl", "veth", "veth_xmit", "entry"],
        ["1", "kbl", "veth", "veth_xmit", "return"],
    ]
    assert done.stderr == "kblrecord: gone is not in this kernel\n"
    assert fake.log("control") == ""


@pytest.mark.parametrize(
    ("line", "word"),
    [
        ("ip_rcv skb@15", "skb@15"),
        ("ip_rcv skb@", "skb@"),
        ("ip_rcv skb@x", "skb@x"),
        ("ip_rcv cow@1", "cow@1"),
        ("ip_rcv list@ret", "list@ret"),
        ("ip_rcv 0 0 -", "0"),
        ("ip_rcv eaten", "eaten"),
        ("ip_rcv alloc free", "free"),
        ("ip_rcv 0xzz", "0xzz"),
        ("ip_rcv module=", "module="),
        ("ip_rcv skb@0 skb@1 skb@2 skb@3 skb@4", "skb@4"),
    ],
)
def test_wrong_word_is_named_with_its_line(fake: Fake, line: str, word: str) -> None:
    (fake.folder / "list.txt").write_text(f"# fine\n\nip_rcv skb@0 # too\n{line}\n")
    done = fake.run("-l")
    assert done.returncode == 1
    assert done.stderr == f"kblrecord: {fake.folder}/list.txt:4: '{word}' is not understood\n"


@pytest.mark.parametrize("line", ["ip_rcv skb@0 inner", "ip_rcv drop inner", "ip_rcv quiet inner"])
def test_inner_function_has_no_packet(fake: Fake, line: str) -> None:
    (fake.folder / "list.txt").write_text(f"# fine\n{line}\n")
    done = fake.run("-l")
    assert done.returncode == 1
    said = "'inner' goes with no carrier, no event and not with 'quiet'"
    assert done.stderr == f"kblrecord: {fake.folder}/list.txt:2: {said}\n"


def test_inner_function_is_marked(fake: Fake, tmp_path: Path) -> None:
    (fake.folder / "list.txt").write_text("veth_xmit inner\nip_rcv skb@0\nip_rcv inner\n")
    first, second = sent(fake, "-f", fake.folder / "list.txt")
    assert first.endswith(" module=veth inner")
    assert second == f"ip_rcv 0x{STEXT + 0x1000:x} skb@0"  # a packet's line is stronger
    table = probes(read(fake.folder / "a.kbl"))
    assert [int(table[name]["flags"]) for name in ("veth_xmit", "ip_rcv")] == [1, 0]


def sent(fake: Fake, *arguments: str | Path) -> list[str]:
    """Return the lines that the recorder writes to `probes`."""
    fake.start("-w", fake.folder / "a.kbl", *arguments).ready().end(signal.SIGINT)
    return fake.log("probes").splitlines()


def test_name_without_module_is_also_looked_up_in_modules(fake: Fake) -> None:
    with (fake.folder / "kallsyms").open("a") as symbols:
        symbols.write(f"{STEXT + 0x8000:x} t ip_rcv\t[veth]\n")
    (fake.folder / "list.txt").write_text("veth_xmit skb@0\nip_rcv skb@0\nip_rcv module=gone\n")
    first, second = sent(fake)
    assert first.startswith("veth_xmit 0x")
    assert first.endswith(" skb@0 module=veth")
    # The kernel's own function is meant, if there is one
    assert second == f"ip_rcv 0x{STEXT + 0x1000:x} skb@0"


def test_every_word_reaches_the_module(fake: Fake) -> None:
    line = "ip_rcv skb@0 skbp@1 list@2 sock@ret clone bool quiet"
    (fake.folder / "list.txt").write_text(line.replace(" ", "\t") + "\r\n")
    address = f"0x{STEXT + 0x1000:x}"
    assert sent(fake) == [line.replace("ip_rcv", f"ip_rcv {address}")]


def test_address_and_names_of_several_functions(fake: Fake) -> None:
    with (fake.folder / "kallsyms").open("a") as symbols:
        symbols.write(f"{STEXT + 0x8000:x} t ip_rcv\n{STEXT + 0x9000:x} d ip_rcv\n")
        symbols.write(f"{STEXT + 0xA000:x} t ip_rcv\t[other]\n")
    (fake.folder / "list.txt").write_text("ip_rcv skb@0\nunnamed 0xabc skb@1\n")
    assert sent(fake) == [
        f"ip_rcv 0x{STEXT + 0x1000:x} skb@0",
        f"ip_rcv 0x{STEXT + 0x8000:x} skb@0",
        "unnamed 0xabc skb@1",
    ]


def test_lists_add_up_without_doubles(fake: Fake) -> None:
    second = fake.folder / "second.txt"
    second.write_text("skb_clone skb@0 skb@ret clone quiet\nip_rcv skb@0 drop quiet\n")
    assert sent(fake, "-f", fake.folder / "list.txt", "-f", second, "--no-life") == [
        f"ip_rcv 0x{STEXT + 0x1000:x} skb@0 drop int",
        f"tcp_v4_rcv 0x{STEXT + 0x2000:x} skb@0 int",
        f"skb_clone 0x{STEXT + 0x3000:x} skb@0 skb@ret clone quiet",
    ]


def test_first_list_that_says_what_a_function_returns_counts(fake: Fake) -> None:
    first, second = fake.folder / "first.txt", fake.folder / "second.txt"
    first.write_text("ip_rcv skb@0\ntcp_v4_rcv skb@0 int\n")
    second.write_text("ip_rcv bool\ntcp_v4_rcv void\n")
    assert sent(fake, "-f", first, "-f", second, "--no-life") == [
        f"ip_rcv 0x{STEXT + 0x1000:x} skb@0 bool",
        f"tcp_v4_rcv 0x{STEXT + 0x2000:x} skb@0 int",
    ]


@pytest.fixture
def installed(tmp_path: Path) -> Path:
    """kblrecord in a folder of its own, with lists of several kernels beside it."""
    folder = tmp_path / "bin"
    folder.mkdir()
    shutil.copy(built() / "kblrecord", folder)
    return folder


def listed(installed: Path, fake: Fake, *arguments: str | Path) -> tuple[str, list[str]]:
    """What is probed, by a program which takes the list beside it."""
    surroundings = os.environ | {
        "KBL_DEBUGFS": str(fake.folder),
        "LD_PRELOAD": str(built() / "fake.so"),
    }
    command = [str(installed / "kblrecord"), "-w", str(fake.folder / "a.kbl"), "-c", "1"]
    fake.add(0, calls(1))
    done = subprocess.run([*command, *map(str, arguments)], env=surroundings, text=True,
                          capture_output=True, check=False, timeout=30)  # fmt: skip
    return done.stderr, fake.log("probes").splitlines()


def test_default_list_is_that_of_the_running_kernel(installed: Path, fake: Fake) -> None:
    words = re.match(r"(\d+)\.(\d+)", platform.release())
    assert words is not None
    major, minor = int(words[1]), int(words[2])
    names = {
        (major, minor + 1): "skb_clone",
        (major, minor): "ip_rcv",
        (major - 1, 99): "kfree_skbmem",
    }
    for (a, b), name in names.items():
        (installed / f"probes-{a}.{b}.txt").write_text(f"{name} skb@0\n")
    (installed / "probes-x.txt").write_text("tcp_v4_rcv skb@0\n")
    assert listed(installed, fake)[1] == [f"ip_rcv 0x{STEXT + 0x1000:x} skb@0"]
    (installed / f"probes-{major}.{minor}.txt").unlink()
    fake.folder.joinpath("probes.log").unlink()
    assert listed(installed, fake)[1] == [f"kfree_skbmem 0x{STEXT + 0x4000:x} skb@0"]
    (installed / f"probes-{major - 1}.99.txt").unlink()
    fake.folder.joinpath("probes.log").unlink()
    assert listed(installed, fake)[1] == [f"skb_clone 0x{STEXT + 0x3000:x} skb@0"]


def test_no_list_at_all_is_reported(installed: Path, fake: Fake) -> None:
    said, probed = listed(installed, fake)
    assert "give a list with -f" in said
    assert probed == []


def test_functions_that_tell_of_lives_are_added_quietly(installed: Path, fake: Fake) -> None:
    life = (
        "skb_clone skb@0 skb@ret clone\nip_rcv skb@0\nkfree_skbmem skb@0 free void\nno_such free\n"
    )
    (installed / "probes-1.0.txt").write_text(life)
    own = fake.folder / "own.txt"
    own.write_text("tcp_v4_rcv skb@0\nkfree_skbmem skb@0\n")
    assert listed(installed, fake, "-f", own)[1] == [
        f"tcp_v4_rcv 0x{STEXT + 0x2000:x} skb@0",
        f"kfree_skbmem 0x{STEXT + 0x4000:x} skb@0 free void",
        f"skb_clone 0x{STEXT + 0x3000:x} skb@0 skb@ret clone quiet",
    ]
    fake.folder.joinpath("probes.log").unlink()
    assert len(listed(installed, fake, "-f", own, "--no-life")[1]) == 2


@pytest.mark.parametrize(
    ("compiler", "machine"),
    [("aarch64-linux-gnu-gcc", "qemu-aarch64"), ("s390x-linux-gnu-gcc", "qemu-s390x")],
)
def test_other_machines_read_and_list_alike(
    fake: Fake, tmp_path: Path, compiler: str, machine: str
) -> None:
    """Built static with CC= alone; s390x has the other byte order."""
    fake.add(0, calls(100))
    fake.run("-w", tmp_path / "a.kbl", "-c", 100)
    program = compile_c(tmp_path / "kblrecord", "-static", *SOURCES, compiler=compiler)
    here, there = (
        subprocess.run(
            [*run, "-tt", "-r", str(tmp_path / "a.kbl")], capture_output=True, check=True
        )
        for run in ([str(built() / "kblrecord")], [machine, str(program)])
    )
    assert here.stdout == there.stdout
    assert len(here.stdout.splitlines()) == 100


def test_makefile_cross_compiles(tmp_path: Path) -> None:
    copy = tmp_path / "kmod"
    shutil.copytree(KMOD, copy, ignore=shutil.ignore_patterns("*.o", "*.ko", "kblrecord"))
    make = ["make", "-C", str(copy), "kblrecord", "CC=aarch64-linux-gnu-gcc", "LDFLAGS=-static"]
    subprocess.run([*make, "CFLAGS=-O2 -Wall -Wextra -Werror"], check=True, capture_output=True)
    assert (copy / "kblrecord").read_bytes()[18:20] == b"\xb7\0"  # EM_AARCH64


def test_manual_is_sound_and_names_every_option() -> None:
    page = KMOD / "kblrecord.1"
    lint = subprocess.run(["mandoc", "-T", "lint", "-W", "warning", str(page)], text=True,
                          capture_output=True, check=False)  # fmt: skip
    assert lint.stdout + lint.stderr == ""
    shown = subprocess.run(["mandoc", "-T", "ascii", str(page)], text=True, capture_output=True,
                           check=True).stdout  # fmt: skip
    text = re.sub(".\x08", "", shown)
    usage = subprocess.run([str(built() / "kblrecord"), "-h"], text=True, capture_output=True,
                           check=True).stdout  # fmt: skip
    options = set(re.findall(r"^  (-\w|--[a-z-]+)", usage, re.MULTILINE))
    assert len(options) > 15
    described = set(re.findall(r"^     (?:-D, )?(--?[a-zA-Z-]+)", text, re.MULTILINE))
    assert options - described == set()
