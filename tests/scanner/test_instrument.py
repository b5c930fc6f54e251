# SPDX-License-Identifier: MIT
"""Probes in compiled programs: same output, same diagnostics, and a log that gcc confirms.

gcc -finstrument-functions logs every call and return of the untouched program.  The probes of the
instrumented one must log these, in that order, for the functions chosen.
"""

from __future__ import annotations

import errno
import itertools
import json
import os
import re
import shutil
import subprocess
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from scanner import cached_tables
from scanner.cli import main
from scanner.progress import Progress
from scanner.tables.three_tables import Options

HERE = Path(__file__).parent / "instrument"
SOURCES = sorted(path.stem for path in (HERE / "source").glob("*.c"))
STRICT = ("-std=gnu89", "-Wdeclaration-after-statement", "-Werror=declaration-after-statement")
CASES = [
    *((name, ("-std=gnu11", "-O2")) for name in SOURCES),
    *((name, (*STRICT, "-O0")) for name in ("returns", "macros", "old")),
    *(
        ("branches", (*STRICT, *(f"-D{x}" for x, on in zip("ABC", chosen, strict=True) if on)))
        for chosen in itertools.product((False, True), repeat=3)
    ),
]


class Ran(NamedTuple):
    """What a program wrote and how it ended, what it logged, and what the compiler said."""

    output: bytes
    status: int
    log: list[str]
    diagnostics: str


def instrumented(tree: Path, *arguments: str) -> dict[str, Any]:
    """Instrument a tree in place; return the manifest."""
    manifest = tree.parent / "manifest.json"
    given = ["instrument", str(tree), "--no-cache", "-q", "--jobs", "1", "--in-place"]
    assert main([*given, "--manifest", str(manifest), *arguments]) == 0
    found: dict[str, Any] = json.loads(manifest.read_text())
    return found


def ran(source: Path, flags: tuple[str, ...]) -> Ran:
    """Compile a file with the runtime, and run it with its log on descriptor 3."""
    program = source.with_suffix("")
    command = ["gcc", "-Wall", "-Wextra", "-fno-diagnostics-show-caret", "-fno-show-column"]
    command += [
        "-Wno-unused-parameter",
        "-no-pie",
        *flags,
        f"-I{HERE / 'include'}",
        source.name,
        "-o",
        program.name,
    ]
    built = subprocess.run(
        [*command, str(HERE / "runtime.c")],
        cwd=source.parent,
        capture_output=True,
        text=True,
        env={**os.environ, "LC_ALL": "C"},
    )
    assert built.returncode == 0, built.stderr
    log = source.with_suffix(".log")
    shell = ["sh", "-c", f'exec "{program}" 3>"{log}"']
    done = subprocess.run(shell, capture_output=True, timeout=20)
    return Ran(done.stdout, done.returncode, log.read_text().splitlines(), built.stderr)


def names_of(program: Path) -> dict[int, str]:
    listed = subprocess.run(["nm", str(program)], capture_output=True, text=True, check=True)
    rows = (line.split() for line in listed.stdout.splitlines())
    return {int(row[0], 16): row[2] for row in rows if len(row) == 3 and row[1] in "tT"}


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    """A tree with one fixture and its header, as ``copy(name)`` of the tests."""
    folder = tmp_path / "tree"
    folder.mkdir()
    shutil.copy(HERE / "source" / "skb.h", folder)
    return folder


def copied(tree: Path, name: str) -> Path:
    return Path(shutil.copy(HERE / "source" / f"{name}.c", tree))


@pytest.mark.parametrize("name", SOURCES)
def test_text_is_as_written(tree: Path, name: str) -> None:
    source = copied(tree, name)
    found = instrumented(tree)
    assert source.read_text() == (HERE / "expected" / f"{name}.c").read_text()
    rows = [json.dumps(row) for row in (*found["functions"], *found["left_out"])]
    assert rows == (HERE / "expected" / f"{name}.jsonl").read_text().splitlines()


@pytest.mark.parametrize(("name", "flags"), CASES)
def test_program_is_the_same_and_every_call_is_logged(
    tree: Path, name: str, flags: tuple[str, ...]
) -> None:
    source = copied(tree, name)
    before = ran(source, flags)
    found = instrumented(tree)
    after = ran(source, flags)
    assert after[:2] == before[:2]
    assert after.diagnostics == before.diagnostics
    assert before.log == []
    shutil.copy(HERE / "source" / f"{name}.c", source)
    oracle = ran(source, (*flags, "-O0", "-finstrument-functions"))
    names = {row["id"]: row["function"] for row in found["functions"]}
    logged = [line.split() for line in after.log]
    calls = [(line[0], names[int(line[1])]) for line in logged]
    symbols = names_of(source.with_suffix(""))
    true = [(line[0], symbols[int(line.split()[1], 16)]) for line in oracle.log]
    assert calls == [call for call in true if call[1] in names.values()]
    assert calls


def test_the_probe_sees_packet_and_result(tree: Path) -> None:
    source = tree / "seen.c"
    source.write_text(
        '#include "skb.h"\n\n'
        "struct sk_buff *pass(struct sk_buff *skb, struct sk_buff *other)\n"
        "{\n\treturn skb ? skb : other;\n}\n"
        "int main(void)\n{\n\tstruct sk_buff skb;\n"
        '\tprintf("%p\\n", (void *)pass(&skb, NULL));\n\treturn 0;\n}\n'
    )
    row = instrumented(tree, "--select", "pass")["functions"][0]
    assert row["carriers"] == ["skb@0", "skb@1"]
    result = ran(source, ())
    address = result.output.decode().strip()
    assert result.log == [f"> 1 {address} (nil)", f"< 1 {address.removeprefix('0x')}"]


CONSTANT = """#include "skb.h"

typedef const int number;
typedef struct sk_buff *const packet;
typedef const struct pair { int a, b; } pair;

number f(struct sk_buff *skb)
{
	return skb ? 1 : 300;
}

packet g(struct sk_buff *skb)
{
	return skb;
}

pair h(struct sk_buff *skb)
{
	pair made = { 1, skb != NULL };
	return made;
}

_Bool i(struct sk_buff *skb)
{
	return skb ? 512 : 0;
}

int main(void)
{
	struct sk_buff skb;

	printf("%d %d %d %d\\n", f(&skb), g(&skb) == &skb, h(&skb).b, i(&skb));
	return 0;
}
"""


def test_a_typedef_of_a_result_may_be_constant(tree: Path) -> None:
    source = tree / "constant.c"
    source.write_text(CONSTANT)
    before = ran(source, ("-Wno-ignored-qualifiers",))
    rows = instrumented(tree)["functions"]  # main() is the last one
    assert [row["mode"] for row in rows] == ["explicit"] * 5
    after = ran(source, ("-Wno-ignored-qualifiers",))
    assert after.output == before.output == b"1 1 1 1\n"
    assert after.diagnostics == before.diagnostics
    assert {"< 1 1", "< 4 1"} < set(after.log)  # 512 became true


def test_the_kernels_macro_keeps_a_result_as_that_of_the_tests() -> None:
    kernel = HERE.parents[2] / "kmod/instrument/kbl_probe.h"
    texts = [path.read_text() for path in (kernel, HERE / "include/linux/kbl_probe.h")]
    macros = [re.search(r"#define KBL_RESULT\(type\) (.* kbl_ret) ", text) for text in texts]
    assert macros[0] and macros[1] and macros[0][1] == macros[1][1]


def test_lines_of_diagnostics_stay(tree: Path) -> None:
    """A file without any empty line, too: there a #line directive restores the count."""
    text = (
        '#include "skb.h"\n%sint f(struct sk_buff *skb)\n{\n\tint unused;\n'
        "\tif (skb)\n\t\treturn 1;\n\treturn\n\t2;\n\tint late;\n}\n"
        "int main(void) { return f(NULL) - 2; }\n"
    )
    for name, more in (("empty", "\n"), ("full", "")):
        source = tree / f"{name}.c"
        source.write_text(text % more)
        before = ran(source, ("-Wdeclaration-after-statement",))
        instrumented(tree, "--select", f"{name}.c:f")
        after = ran(source, ("-Wdeclaration-after-statement",))
        assert "unused" in before.diagnostics
        assert after.diagnostics == before.diagnostics
        assert len(after.log) == 2
        rows = instrumented(tree, "--select", f"{name}.c:f")["functions"]
        assert [row["line"] for row in rows] == [2 + len(more)]


def scanned(tree: Path) -> list[dict[str, Any]]:
    """Return the rows of every function of a tree."""
    found = cached_tables.tables(
        cached_tables.Run(tree, [], 1, None), Options(), Progress(quiet=True)
    )
    return found.functions


def test_a_later_run_includes_the_header_above_functions_that_are_new(tmp_path: Path) -> None:
    source = tmp_path / "tree" / "a.c"
    source.parent.mkdir()
    text = "struct sk_buff { int a; };\n\n" + "".join(
        f"#ifdef {name.upper()}\n\nint {name}(struct sk_buff *skb)\n{{\n\treturn 1;\n}}\n#endif\n"
        for name in ("one", "two", "three")
    )
    source.write_text(text)
    for name in ("two", "three", "one"):
        instrumented(source.parent, "--select", name)
    lines = source.read_text().splitlines()
    assert len(lines) == len(text.splitlines()) and lines.count("#include <linux/kbl_probe.h>") == 3
    flags = ("-DONE", "-DTWO", "-DTHREE")
    command = ["gcc", "-Wall", "-Werror", "-c", f"-I{HERE / 'include'}", "-o", "/dev/null"]
    for chosen in (*((flag,) for flag in flags), flags):
        subprocess.run([*command, *chosen, str(source)], check=True)
    assert main(["instrument", str(source.parent), "--no-cache", "-q", "--undo"]) == 0
    assert source.read_text() == text


@pytest.mark.parametrize("name", SOURCES)
def test_twice_is_once_and_undo_gives_back_every_byte(tree: Path, name: str) -> None:
    source = copied(tree, name)
    before = source.read_bytes()
    tables = scanned(tree)
    first = instrumented(tree)
    once = source.read_bytes()
    assert scanned(tree) == tables
    assert once != before
    assert instrumented(tree) == first
    assert source.read_bytes() == once
    assert main(["instrument", str(tree), "--undo"]) == 0
    assert source.read_bytes() == before


def test_more_functions_later_get_new_ids(tree: Path) -> None:
    source = copied(tree, "returns")
    before = source.read_bytes()
    instrumented(tree, "--select", "b*")
    instrumented(tree, "--select", "c*")
    rows = instrumented(tree)["functions"]
    assert {row["function"]: row["id"] for row in rows[:2]} == {"branches": 1, "cases": 2}
    assert [row["id"] for row in rows] == list(range(1, len(rows) + 1))
    assert source.read_text().count("#include <linux/kbl_probe.h>") == 1
    assert main(["instrument", str(tree), "--undo"]) == 0
    assert source.read_bytes() == before


@pytest.mark.parametrize("name", SOURCES)
def test_patch_makes_the_same_of_the_tree(tree: Path, name: str, tmp_path: Path) -> None:
    source = copied(tree, name)
    patch = tmp_path / "out.patch"
    given = ["instrument", str(tree), "--no-cache", "-q", "--patch", str(patch)]
    assert main(given) == 0
    assert source.read_bytes() == (HERE / "source" / f"{name}.c").read_bytes()
    command = ["patch", "-s", "--fuzz=0", "-p1", "-i", str(patch)]
    subprocess.run(command, cwd=tree, check=True)
    assert source.read_text() == (HERE / "expected" / f"{name}.c").read_text()


@pytest.mark.parametrize(
    "text",
    [
        b'#include "skb.h"\r\n\r\nint f(struct sk_buff *skb)\r\n{\r\n\treturn 1;\r\n}\r\n',
        b'#include "skb.h"\nint f(struct sk_buff *skb)\n{\n\treturn 1;\n}',
        b'/* caf\xe9 */\n \t\n#include "skb.h"\nint f(struct sk_buff *s) { return s->len; }\n',
        b'#include "skb.h"\n/*\n\n*/\nint f(struct sk_buff *s) { return s->len; }\n',
        b'#include "skb.h"\n#if 1\n\nint f(struct sk_buff *s) { return s->len; }\n#endif\n'
        b"#if 1\nint g(struct sk_buff *s) { return s->len; }\n#endif\n",
    ],
)
def test_bytes_that_are_no_probes_stay(tree: Path, text: bytes) -> None:
    source = tree / "bytes.c"
    source.write_bytes(text)
    patch = tree.parent / "out.patch"
    assert main(["instrument", str(tree), "--no-cache", "-q", "--patch", str(patch)]) == 0
    instrumented(tree)
    changed = source.read_bytes()
    built = ["gcc", "-fsyntax-only", f"-I{HERE / 'include'}", source.name]
    subprocess.run(built, cwd=tree, check=True)
    assert b"KBL_ENTER(1, s" in changed
    assert main(["instrument", str(tree), "--undo"]) == 0
    assert source.read_bytes() == text
    subprocess.run(["patch", "-s", "--binary", "-p1", "-i", str(patch)], cwd=tree, check=True)
    assert source.read_bytes() == changed


def test_what_cannot_be_undone_is_left_alone(tree: Path) -> None:
    source = tree / "odd.c"
    text = '#include "skb.h"\n\nint f(struct sk_buff *s)\n{\n\treturn s->len;\n}\n'
    text += 'char *example = "{ KBL_LEAVE(7); return; }";\n'
    source.write_text(text)
    found = instrumented(tree)
    assert source.read_text() == text
    assert [row["function"] for row in found["left_out"]] == ["f"]
    assert "'--undo' would remove it" in found["left_out"][0]["reason"]


def test_a_full_disk_is_reported_and_leaves_every_file_as_it_was(
    tree: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    source = copied(tree, "old")
    before = {path: path.read_bytes() for path in tree.iterdir()}

    def half(path: Path, data: bytes) -> int:
        with path.open("wb") as file:
            file.write(data[: len(data) // 2])
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(Path, "write_bytes", half)
    assert main(["instrument", str(tree), "--no-cache", "-q", "--jobs", "1", "--in-place"]) == 2
    assert capsys.readouterr().err == f"skbscan: {source}: No space left on device\n"
    assert {path: path.read_bytes() for path in tree.iterdir()} == before


def test_headers_and_probes_own_functions_are_left_out(tree: Path) -> None:
    body = "(struct sk_buff *skb) { return skb->len; }\n"
    (tree / "inline.h").write_text(f'#include "skb.h"\n\nstatic inline int in_header{body}')
    (tree / "own.c").write_text(f'#include "inline.h"\n\nint kbl_handler{body}')
    found = instrumented(tree)
    assert found["functions"] == []
    reasons = {row["function"]: row["reason"] for row in found["left_out"]}
    assert re.search("header", reasons["in_header"])
    assert re.search("is part of the code that probes call", reasons["kbl_handler"])


@pytest.mark.parametrize("header", ["kmod/instrument", "tests/scanner/instrument/include/linux"])
def test_headers_define_what_is_inserted(header: str) -> None:
    inserted = "".join(path.read_text() for path in (HERE / "expected").glob("*.c"))
    text = (HERE.parents[2] / header / "kbl_probe.h").read_text()
    defined = set(re.findall(r"#define (KBL_\w+)", text))
    assert set(re.findall(r"\bKBL_\w+", inserted)) <= defined


def test_every_carrier_is_passed_and_of_the_socks_the_first(tree: Path) -> None:
    source = tree / "carriers.c"
    source.write_text(
        '#include "skb.h"\n\nstruct sk_buff_head { struct sk_buff *next; };\n'
        "\nint both(struct sock *sk, struct sk_buff *skb, struct sock *other)\n"
        "{\n\treturn skb->len + sk->state + other->state;\n}\n"
        "\nvoid queued(struct sk_buff_head *list, struct sk_buff *skb, struct sk_buff **to_free)\n"
        "{\n\tlist->next = skb;\n\t*to_free = skb;\n}\n"
    )
    rows = {row["function"]: row for row in instrumented(tree)["functions"]}
    assert rows["both"]["carriers"] == ["sock@0", "skb@1"]
    assert rows["both"]["arguments"] == ["sk", "skb"]
    assert rows["queued"]["carriers"] == ["queue@0", "skb@1", "skbp@2"]
    text = source.read_text()
    assert f"KBL_ENTER({rows['both']['id']}, sk, skb)" in text
    assert f"KBL_ENTER({rows['queued']['id']}, list, skb, to_free)" in text


def test_the_include_is_not_put_between_a_head_and_its_body(tree: Path) -> None:
    source = tree / "apart.c"
    source.write_text(
        '#include "skb.h"\n\nint first(int a)\n{\n\treturn a;\n}\n\n'
        "int apart(struct sk_buff *skb)\n\n{\n\treturn skb->len;\n}\n"
    )
    instrumented(tree)
    lines = source.read_text().splitlines()
    assert lines.index("#include <linux/kbl_probe.h>") == 6
    assert lines[8] == "" and lines[9].startswith("{ KBL_ENTER(1, skb)")
