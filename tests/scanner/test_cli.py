# SPDX-License-Identifier: MIT
"""The commands, their outputs and exit codes."""

from __future__ import annotations

import csv
import json
import shutil
import signal
import subprocess
import sys
from importlib.metadata import version
from pathlib import Path

import pytest

from scanner import scan
from scanner.cli import main
from scanner.source.source_tree import SourceFile

TREES = Path(__file__).parent / "trees"
TODAY = str(TREES / "today")


@pytest.fixture(autouse=True)
def own_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))


def test_tables_as_json_have_the_promised_keys(capsys: pytest.CaptureFixture[str]) -> None:
    own = {
        "polymorphism": {"name", "kind", "level", "how", "member", "via"},
        "direct": {"mark", "level", "parameters", "returns"},
        "indirect": {"side", "round", "witness", "argument"},
    }
    for table, columns in own.items():
        assert main(["tables", TODAY, table, "--json", "-q"]) == 0
        rows = json.loads(capsys.readouterr().out)
        assert rows
        assert all(row.keys() == {"function", "file", "line", *columns} for row in rows)


def test_tables_as_csv(tmp_path: Path) -> None:
    out = tmp_path / "direct.csv"
    assert main(["tables", TODAY, "direct", "--csv", "-q", "-o", str(out)]) == 0
    rows = list(csv.DictReader(out.read_text().splitlines()))
    assert {"by_queue", "sys_sendit"} <= {row["function"] for row in rows}
    assert json.loads(rows[0]["parameters"])[0]["type"] == "struct sk_buff *"


def test_scan_lists_place_and_layer_of_each_function(tmp_path: Path) -> None:
    tree = tmp_path / "tree"
    shutil.copytree(TREES / "old", tree)
    (tree / "net" / "ipv4").mkdir()
    (tree / "net" / "old.c").rename(tree / "net" / "ipv4" / "tcp_old.c")
    out = tmp_path / "all.json"
    assert main(["scan", str(tree), "-q", "--json", str(out)]) == 0
    rows = {row["function"]: row for row in json.loads(out.read_text())["functions"]}
    found = rows["kr_receive"]
    assert (found["file"], found["line"], found["layer"]) == ("net/ipv4/tcp_old.c", 8, "transport")
    assert found["kind"] == "direct" and found["parameters"][0][:2] == ["skb", "struct sk_buff *"]


def test_summary_as_csv_has_the_numbers_of_its_json(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["tables", TODAY, "summary", "--json", "-q"]) == 0
    counts = json.loads(capsys.readouterr().out)
    assert main(["tables", TODAY, "summary", "--csv", "-q"]) == 0
    rows = dict(csv.reader(capsys.readouterr().out.splitlines()))
    assert rows["key"] == "value" and rows["type"] == counts["type"]
    assert int(rows["source.direct"]) == counts["source"]["direct"] > 0


def test_summary_counts_once_per_file_and_name(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["tables", TODAY, "summary", "--json", "-q"]) == 0
    counts = json.loads(capsys.readouterr().out)
    assert counts["files"] == {"include": 1, "net": 1}
    assert counts["links"] == 0
    assert counts["nested_structures"] == 3
    assert counts["customized_types"] == 3
    # twice and headed are defined two times each
    assert counts["source"]["direct"] == 16
    assert counts["parsed"]["body"]["fallbacks"] == 0


def test_second_run_parses_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    tree = tmp_path / "tree"
    shutil.copytree(TREES / "old", tree)
    read: list[str] = []
    real = scan._read

    def spied(root: Path, files: list[SourceFile], *rest: object) -> object:
        read.extend(file.path for file in files)
        return real(root, files, *rest)  # type: ignore[arg-type]

    monkeypatch.setattr(scan, "_read", spied)
    outputs = []
    for level in ("3", "3", "2"):
        assert main(["tables", str(tree), "direct", "-q", "--level", level]) == 0
        outputs.append(capsys.readouterr().out)
    assert sorted(read) == ["include/skbuff.h", "net/old.c"]
    assert outputs[0] == outputs[1] != outputs[2]
    source = tree / "net" / "old.c"
    source.write_text(source.read_text() + "int added(struct sk_buff *skb) { return 0; }\n")
    assert main(["tables", str(tree), "direct", "-q"]) == 0
    assert "added" in capsys.readouterr().out
    assert read.count("net/old.c") == 2 and read.count("include/skbuff.h") == 1


@pytest.mark.parametrize("name", ["*", "*.tables"])
@pytest.mark.parametrize("damage", [b"", b"cut", b"flip", b"other"])
def test_a_spoilt_cache_is_not_believed(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], damage: bytes, name: str
) -> None:
    assert main(["tables", TODAY, "direct", "-q"]) == 0
    first = capsys.readouterr().out
    for kept in (tmp_path / "cache" / "skbscan").glob(name):
        data = kept.read_bytes()
        # A letter of a name, so that what is read is whole, but wrong.
        flipped = data.replace(b"sk_buff", b"sk_luff")
        assert flipped != data
        kept.write_bytes({b"cut": data[:-20], b"flip": flipped}.get(damage, damage))
    assert main(["tables", TODAY, "direct", "-q"]) == 0
    assert capsys.readouterr().out == first


def test_graph(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["graph", TODAY, "by_fragments", "-q"]) == 0
    text = capsys.readouterr().out
    assert text.startswith("digraph") and text.count(" -> ") == 2
    assert 'label="by_typedef"' in text
    drawn = tmp_path / "graph.svg"
    for suffix, magic in ((".svg", b"<?xml"), (".png", b"\x89PNG"), (".pdf", b"%PDF")):
        out = str(drawn.with_suffix(suffix))
        assert main(["graph", TODAY, "finish", "--callers", "-q", "-o", out]) == 0
        assert Path(out).read_bytes().startswith(magic)
    assert b"<svg" in drawn.read_bytes() and b"receive" in drawn.read_bytes()
    assert main(["graph", TODAY, "work", "-q"]) == 2
    assert "work: no packet function has this name" in capsys.readouterr().err


ODD = ("net/caf\udce9.c", 'net/a "b"\\.c', "net/new\nline.c", "net/\u4e2d\u6587.c", "beside.c")


@pytest.fixture
def odd_names(tmp_path: Path) -> Path:
    """A tree whose files have names that are no UTF-8, or hold quotes, blanks, line ends."""
    tree = tmp_path / "odd"
    (tree / "net").mkdir(parents=True)
    for number, name in enumerate(ODD):
        text = f"struct sk_buff;\n\nint odd{number}(struct sk_buff *skb)\n{{\n\treturn 1;\n}}\n"
        (tree / name).write_text(text)
    return tree


@pytest.mark.parametrize(
    "words",
    [
        ("tables", ".", "direct"),
        ("tables", ".", "direct", "--csv"),
        ("scan", ".", "--fallbacks"),
        ("graph", ".", "odd0"),
        ("graph", ".", "odd1"),
        ("instrument", ".", "--patch", "-"),
    ],
)
def test_names_of_files_may_be_any(
    odd_names: Path,
    words: tuple[str, ...],
    tmp_path: Path,
    capfdbinary: pytest.CaptureFixture[bytes],
) -> None:
    given = [words[0], str(odd_names), *words[2:], "-q", "--dir", "."]
    assert main(given) in (0, 1)
    printed = capfdbinary.readouterr().out
    if words[0] != "scan":
        assert b"odd0" in printed or b"odd1" in printed
    if words[0] == "graph":
        drawn = tmp_path / "odd.svg"
        assert main([*given, "-o", str(drawn)]) == 1
        assert words[2].encode() in drawn.read_bytes()


def test_a_patch_finds_files_of_any_name(odd_names: Path, tmp_path: Path) -> None:
    before = {name: (odd_names / name).read_bytes() for name in ODD}
    out = tmp_path / "out.patch"
    given = ["instrument", str(odd_names), "--dir", ".", "-q", "--patch", str(out)]
    assert main(given) == 1
    subprocess.run(["patch", "-s", "-p1", "-i", str(out)], cwd=odd_names, check=True)
    assert all(b"KBL_ENTER" in (odd_names / name).read_bytes() for name in ODD)
    assert main(["instrument", str(odd_names), "--dir", ".", "--undo"]) == 0
    assert {name: (odd_names / name).read_bytes() for name in ODD} == before


SLOW = """
import sys, time
from pathlib import Path
from scanner.cli import main

def replace(self, target):
    print("begun", flush=True)
    time.sleep(60)

Path.replace = replace
sys.exit(main())
"""


def test_sigterm_leaves_no_hidden_file(odd_names: Path) -> None:
    before = sorted(odd_names.rglob("*"))
    command = [sys.executable, "-c", SLOW, "instrument", str(odd_names), "--dir", ".", "-q"]
    command += ["--in-place"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None and process.stdout.readline() == "begun\n"
        assert len(list(odd_names.rglob(".*.skbscan"))) == 1
        process.terminate()
    assert process.returncode == 128 + signal.SIGTERM
    assert sorted(odd_names.rglob("*")) == before


def test_a_reader_that_goes_is_no_failure() -> None:
    """Example: ``skbscan tables TREE direct | head -1``."""
    command = [sys.executable, "-m", "scanner.cli", "scan", TODAY, "-q", "--json", "-"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        assert process.stdout is not None and process.stderr is not None
        process.stdout.close()
        assert process.stderr.read() == b""
    assert process.returncode == 0


@pytest.mark.parametrize(
    ("words", "name"),
    [
        (("tables", TODAY, "direct"), "standard output"),
        (("instrument", TODAY, "--patch", "-"), "standard output"),
        (("tables", TODAY, "direct", "-o", "/dev/full"), "/dev/full"),
        (("graph", TODAY, "finish", "-o", "/dev/full"), "/dev/full"),
    ],
)
def test_a_full_disk_is_named(words: tuple[str, ...], name: str) -> None:
    command = [sys.executable, "-m", "scanner.cli", *words, "-q"]
    with open("/dev/full", "w") as full:
        done = subprocess.run(command, stdout=full, stderr=subprocess.PIPE, text=True)
    assert done.stderr.splitlines()[0] == f"skbscan: {name}: No space left on device"
    assert done.returncode == 2


def test_fallbacks_name_the_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "a.c").write_text(
        "struct sk_buff {\n\tint a;\n\tSOME THING of int b;\n};\n"
        "\n\nint f(struct sk_buff *skb)\n{\n\tint a\n\t5 b;\n\n\treturn 1;\n}\n"
    )
    main(["scan", str(tmp_path), "-q", "--fallbacks"])
    printed = [line for line in capsys.readouterr().out.splitlines() if line.startswith("a.c")]
    assert [line.rpartition(": ")[0] for line in printed] == [
        "a.c:1: struct sk_buff: line 3: before",
        "a.c:7: body f: line 10: before",
    ]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["scan", "nowhere"], "nowhere: no such folder"),
        (["scan", str(TREES / "today" / "expected")], "no file *.c or *.h in it"),
        (["scan", TODAY, "--dir", "drivers"], "drivers: no such folder"),
        (["probes"], "needs TREE"),
        (["probes", "--btf", "nowhere"], "nowhere: No such file"),
        (["probes", "--btf", __file__], "neither a kernel image"),
    ],
)
def test_unusable_input(
    arguments: list[str], message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main([*arguments, "-q"]) == 2
    printed = capsys.readouterr().err
    assert message in printed and printed.count("\n") == 1


@pytest.mark.parametrize(
    "arguments",
    [
        [],
        ["scan"],
        ["scan", ".", "--type", "int *"],
        ["tables", ".", "all"],
        ["scan", ".", "--jobs", "0"],
        ["scan", ".", "--type", "struct"],
        ["tables", ".", "direct", "--json", "--csv"],
        ["graph", ".", "f", "-o", "graph.txt"],
        ["graph", ".", "f", "-o", "graph.SVG"],
    ],
)
def test_bad_arguments(arguments: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        main(arguments)
    assert ended.value.code == 2
    assert "usage" in capsys.readouterr().err


def test_warnings_are_listed(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "a.c").write_bytes(b"struct sk_buff { int a; };\0")
    assert main(["scan", str(tmp_path), "-q", "--no-cache"]) == 1
    printed = capsys.readouterr().err.splitlines()
    assert "skbscan: warning: a.c: binary: it contains NUL bytes" in printed


def test_the_version_is_that_of_the_package(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        main(["--version"])
    assert ended.value.code == 0
    assert capsys.readouterr().out == f"skbscan {version('skbviewer')}\n"


@pytest.mark.parametrize("ending", ["", ".dot", ".gv"])
def test_a_graph_as_text(tmp_path: Path, ending: str) -> None:
    out = tmp_path / f"graph{ending}"
    assert main(["graph", TODAY, "finish", "-q", "-o", str(out)]) == 0
    assert out.read_text().startswith("digraph")


@pytest.mark.parametrize(
    ("given", "meant", "found"),
    [
        ("sk_buff", "struct sk_buff", ["a", "b", "c"]),
        ("skb_t", "struct sk_buff", ["a", "b", "c"]),
        ("skb_p", "struct sk_buff", ["a", "b", "c"]),
        ("bare_t", "bare_t", ["d"]),
        ("bare_p", "bare_t", ["d"]),
        ("both", "union both", ["e"]),
        ("nowhere", "struct nowhere", []),
    ],
)
def test_a_typedef_stands_for_its_struct(
    given: str, meant: str, found: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "a.c").write_text(
        "typedef struct sk_buff { int len; } skb_t;\ntypedef skb_t *skb_p;\n"
        "typedef struct { int x; } bare_t;\ntypedef bare_t *bare_p;\nunion both { int x; };\n"
        "void a(struct sk_buff *s) { }\nvoid b(skb_t *s) { }\nvoid c(skb_p s) { }\n"
        "void d(bare_p b) { }\nvoid e(union both b) { }\n"
    )
    missing = main(["scan", str(tmp_path), "-q", "--type", given, "--json", "-"])
    result = json.loads(capsys.readouterr().out)
    assert result["type"] == meant and missing == (given == "nowhere")
    assert [row["function"] for row in result["direct"]] == found


def test_a_pointer_to_an_array_is_one_pointer(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "a.c").write_text(
        "struct sk_buff { int len; };\nvoid a(struct sk_buff (*rows)[3]) { }\n"
        "void b(struct sk_buff *few[3]) { }\nvoid c(struct sk_buff *(*some)[2][3]) { }\n"
    )
    assert main(["tables", str(tmp_path), "direct", "--dir", ".", "-q", "--json"]) == 0
    rows = json.loads(capsys.readouterr().out)
    stars = {row["function"]: row["parameters"][0]["type"].count("*") for row in rows}
    assert stars == {"a": 1, "b": 2, "c": 2}
