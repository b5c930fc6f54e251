# SPDX-License-Identifier: MIT
"""skbscan instrument --runtime puts what the probes call into a kernel's tree, and takes it out."""

from __future__ import annotations

import csv
import io
import subprocess
from pathlib import Path

import pytest

from scanner.cli import main

TOP = Path(__file__).resolve().parents[2]
SOURCE = "#include <linux/skbuff.h>\n\nint f(struct sk_buff *skb)\n{\n\treturn skb->len;\n}\n"
MAKEFILE = "obj-y += string.o\n\nobj-$(CONFIG_X) += x.o\n"
TOP_MAKEFILE = "VERSION = 6\n"
KINDS = ("int", "unsigned int")
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


@pytest.mark.parametrize("name", ["lib/Makefile", "Makefile"])
def test_makefiles_may_lack_the_last_newline(kernel: Path, name: str) -> None:
    (kernel / name).write_text("obj-y += a.o")
    before, patch = files(kernel), kernel.parent / "out.patch"
    assert skbscan(kernel, "--in-place", "--runtime") == 0
    after = files(kernel)
    assert skbscan(kernel, "--undo") == 0
    assert files(kernel) == before
    assert skbscan(kernel, "--patch", str(patch), "--runtime") == 0
    subprocess.run(["patch", "-s", "-p1", "-i", str(patch)], cwd=kernel, check=True)
    assert files(kernel) == after


def test_lines_after_that_of_the_runtime_stay(kernel: Path) -> None:
    assert skbscan(kernel, "--in-place", "--runtime") == 0
    with (kernel / "lib/Makefile").open("a") as file:
        file.write("obj-y += user.o\n")
    assert skbscan(kernel, "--undo") == 0
    assert (kernel / "lib/Makefile").read_text() == f"{MAKEFILE}obj-y += user.o\n"


def test_the_runtime_stays_while_other_folders_have_probes(
    kernel: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (kernel / "drivers/x").mkdir(parents=True)
    (kernel / "drivers/x/f.c").write_text(SOURCE.replace("f(", "g("))
    before = files(kernel)
    for folder in ("drivers", str(kernel / "net"), "./net"):
        assert skbscan(kernel, "--in-place", "--runtime", "--dir", folder) == 0
    texts = [(kernel / name).read_text() for name in ("drivers/x/f.c", "net/core/f.c")]
    assert ["KBL_ENTER(1," in texts[0], "KBL_ENTER(2," in texts[1]] == [True, True]  # ids differ
    assert skbscan(kernel, "--undo", "--dir", "net/../net") == 0
    assert "the code that probes call was kept" in capsys.readouterr().err
    assert (kernel / "lib/kbl_probe.c").exists() and "KBL" in (kernel / "drivers/x/f.c").read_text()
    assert skbscan(kernel, "--undo") == 0
    assert files(kernel) == before


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("--undo", "--select", "f"), "cannot be combined with '--select'"),
        (("--in-place", "--dir", ".."), "not a folder of"),
        (("--in-place", "--manifest", "/no/such/folder/x"), "No such file"),
    ],
)
def test_refused_words_change_nothing(
    kernel: Path, words: tuple[str, ...], said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert skbscan(kernel, "--in-place") == 0
    (kernel / "net/core/more.c").write_text(SOURCE.replace("f(", "g("))
    before = files(kernel)
    assert skbscan(kernel, *words) == 2
    assert said in capsys.readouterr().err
    assert files(kernel) == before


def test_macros_that_make_heads_without_pasting(
    kernel: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    define = "#define HEAD(type, name) type name(struct sk_buff *skb)\n\n"
    text = "".join(f"static HEAD({kind}, {kind[0]})\n{{\n\treturn 0;\n}}\n" for kind in KINDS)
    (kernel / "net/core/f.c").write_text(f"{define}{text}")
    assert main(["tables", str(kernel), "direct", "--no-cache", "-q", "--csv"]) == 0
    rows = list(csv.DictReader(io.StringIO(capsys.readouterr().out)))
    assert [row["function"] for row in rows] == [kind[0] for kind in KINDS]
    assert skbscan(kernel, "--in-place") == 0
    assert (kernel / "net/core/f.c").read_text().count("(1, skb)") == 1


@pytest.mark.parametrize("blank", ["\n", ""])
def test_a_byte_order_mark_stays_first(kernel: Path, blank: str) -> None:
    text = f"\ufeff{SOURCE.replace(chr(10) * 2, chr(10) + blank)}"
    (kernel / "net/core/f.c").write_text(text)
    assert skbscan(kernel, "--in-place") == 0
    found = (kernel / "net/core/f.c").read_text()
    assert ("KBL_ENTER(1," in found) == bool(blank)
    assert found.startswith("\ufeff#include <linux/skbuff.h>\n")
    assert skbscan(kernel, "--undo") == 0
    assert (kernel / "net/core/f.c").read_text() == text


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
    assert f"it lacks {name}, which" in capsys.readouterr().err
    assert files(kernel) == before
