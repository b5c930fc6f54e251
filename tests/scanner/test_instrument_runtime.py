# SPDX-License-Identifier: MIT
"""skbscan instrument --runtime puts what the probes call into a kernel's tree, and takes it out."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from scanner.cli import main

TOP = Path(__file__).resolve().parents[2]
SOURCE = "#include <linux/skbuff.h>\n\nint f(struct sk_buff *skb)\n{\n\treturn skb->len;\n}\n"
MAKEFILE = "obj-y += string.o\n\nobj-$(CONFIG_X) += x.o\n"
TOP_MAKEFILE = "VERSION = 6\n"
HEADER = "struct sk_buff { int len; };\n"


@pytest.fixture
def kernel(tmp_path: Path) -> Path:
    """The least of a kernel's tree."""
    tree = tmp_path / "linux"
    for path, text in (
        ("include/linux/skbuff.h", HEADER),
        ("net/core/f.c", SOURCE),
        ("lib/Makefile", MAKEFILE),
        ("Makefile", TOP_MAKEFILE),
    ):
        (tree / path).parent.mkdir(parents=True, exist_ok=True)
        (tree / path).write_text(text)
    return tree


def files(tree: Path) -> dict[str, bytes]:
    """Every file of a tree."""
    return {str(p.relative_to(tree)): p.read_bytes() for p in tree.rglob("*") if p.is_file()}


def skbscan(tree: Path, *words: str) -> int:
    """Run the command."""
    given = () if "--undo" in words else ("--no-cache", "-q", "--jobs", "1")
    return main(["instrument", str(tree), *given, *words])


def test_runtime_is_put_in_and_taken_out(kernel: Path) -> None:
    before = files(kernel)
    assert skbscan(kernel, "--in-place", "--runtime") == 0
    after = files(kernel)
    for name, place in (("kbl_probe.h", "include/linux"), ("kbl_probe.c", "lib")):
        assert after[f"{place}/{name}"] == (TOP / "kmod/instrument" / name).read_bytes()
    assert after["lib/Makefile"].decode() == f"{MAKEFILE}obj-y += kbl_probe.o\n"
    flag = "KBUILD_CFLAGS += $(call cc-option,-fno-partial-inlining)\n"
    assert after["Makefile"].decode() == f"{TOP_MAKEFILE}{flag}"
    assert b"KBL_ENTER(1, skb)" in after["net/core/f.c"]
    assert skbscan(kernel, "--in-place", "--runtime") == 0
    assert files(kernel) == after
    assert skbscan(kernel, "--undo") == 0
    assert files(kernel) == before


def test_patch_does_the_same(kernel: Path) -> None:
    patch = kernel.parent / "out.patch"
    before = files(kernel)
    assert skbscan(kernel, "--patch", str(patch), "--runtime") == 0
    assert files(kernel) == before
    subprocess.run(["patch", "-s", "-p1", "-i", str(patch)], cwd=kernel, check=True)
    patched = files(kernel)
    assert skbscan(kernel, "--undo") == 0
    assert skbscan(kernel, "--in-place", "--runtime") == 0
    assert files(kernel) == patched


def test_runtime_is_no_part_of_the_tables(kernel: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for table in ("polymorphism", "direct"):
        said = []
        for words in (("--undo",), ("--in-place", "--runtime")):
            assert skbscan(kernel, *words) == 0
            capsys.readouterr()
            main(["tables", str(kernel), table, "--no-cache", "-q", "--jobs", "1"])
            said.append(capsys.readouterr().out)
        assert said[0] == said[1]
        assert "sk_buff" in said[0]


@pytest.mark.parametrize("name", ["lib/Makefile", "Makefile"])
def test_a_tree_that_is_no_kernel_is_reported(
    kernel: Path, name: str, capsys: pytest.CaptureFixture[str]
) -> None:
    (kernel / name).unlink()
    before = files(kernel)
    assert skbscan(kernel, "--in-place", "--runtime") == 2
    assert f"it has no {name}, which" in capsys.readouterr().err
    assert files(kernel) == before
