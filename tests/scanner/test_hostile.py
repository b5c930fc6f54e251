# SPDX-License-Identifier: MIT
"""Input that breaks parsers: a report, never a crash or a hang."""

from __future__ import annotations

import os
from functools import partial
from itertools import count
from pathlib import Path
from types import SimpleNamespace

import pytest

from scanner import worker_processes
from scanner.cached_tables import Run, tables
from scanner.parse import source_file_reader
from scanner.progress import Progress
from scanner.source.source_tree import BadTree, listing
from scanner.tables.three_tables import Options, Result

GOOD = "struct sk_buff { int len; };\nint good(struct sk_buff *skb)\n{\n\treturn skb->len;\n}\n"


def scanned(root: Path) -> Result:
    return tables(Run(root, [], 1, None), Options(), Progress(quiet=True))


def functions(result: Result) -> set[str]:
    return {row["function"] for row in result.direct}


@pytest.fixture
def good(tmp_path: Path) -> Path:
    (tmp_path / "good.c").write_text(GOOD)
    return tmp_path


@pytest.mark.parametrize(
    ("end", "open_one"),
    [(10, ""), (20, "{ of line 1"), (46, "( of line 2"), (70, "{ of line 3"), (-2, "{ of line 3")],
)
def test_cut_off_file(good: Path, end: int, open_one: str) -> None:
    (good / "cut.c").write_text(GOOD[:end])
    result = scanned(good)
    assert "good" in functions(result)
    expected = [f"cut.c: cut off: the {open_one} is never closed"] if open_one else []
    assert result.warnings == expected


@pytest.mark.parametrize(
    ("text", "warning"),
    [
        ("int x;\n/* a\nb", "cut off: the comment of line 2 has no end"),
        ("int x; /*/", "cut off: the comment of line 1 has no end"),
        ("#if A\n#if B\n#endif\nint x;\n", "cut off: the #if of line 1 has no #endif"),
        ("int f(void)\n{\n}}\n", "brackets do not balance: the } of line 3 closes nothing"),
    ],
)
def test_what_has_no_end_is_reported(good: Path, text: str, warning: str) -> None:
    (good / "open.c").write_text(text)
    assert scanned(good).warnings == [f"open.c: {warning}"]


@pytest.mark.parametrize(
    "text",
    [
        "int x; // net/*.c",
        "int x; /**/",
        "char *s = \"/*\";\nchar c = '{';\n",
        "#define OPEN {\n#define COMMENT /* one\n */ 1\n",
        "#if A\nint f(void) {\n#else\nint f(int a) {\n#endif\n}\n",
        "#if A\nint f(void) {\n#else\nint g(int a) {\n}\n#endif\n#ifdef A\n}\n#endif\n",
    ],
)
def test_what_is_closed_is_not_warned_about(good: Path, text: str) -> None:
    (good / "closed.c").write_text(text)
    assert not scanned(good).warnings


@pytest.mark.parametrize(
    "text",
    [
        "/* never closed\nint f(struct sk_buff *skb) { return 1; }\n",
        'char *s = "never closed\nint f(struct sk_buff *skb) { return 1; }\n',
        "int f(struct sk_buff *skb) {{{{ return 1; }\n",
        "}}}}\nint f(struct sk_buff *skb) { return 1; }\n",
        "#if A\n#if B\n#else\nint f(struct sk_buff *skb) { return 1; }\n",
        "#endif\n#else\n#elif\nint f(struct sk_buff *skb) { return 1; }\n",
        "int f(struct sk_buff *skb) { g((((((; }\n",
        "#define\n#define (\n#define A(\nint f(struct sk_buff *skb)\n",
        "SYSCALL_DEFINE3(\n",
        "SYSCALL_DEFINE3() {}\nBPF_CALL_1(x) { }\n",
        "struct { struct sk_buff *skb; \n",
        "\xff\xfe\n",
        "",
    ],
)
def test_broken_text(good: Path, text: str) -> None:
    (good / "bad.c").write_text(text, encoding="latin-1")
    assert "good" in functions(scanned(good))


def test_binary_file_is_named(good: Path) -> None:
    (good / "binary.c").write_bytes(bytes(range(256)) * 100)
    result = scanned(good)
    assert result.warnings == ["binary.c: binary: it contains NUL bytes"]
    assert "good" in functions(result)


@pytest.mark.parametrize("line", ["int x = 1; ", "(", "#define A ", '"', "/*", "f(g(h("])
def test_one_line_of_five_megabytes(good: Path, line: str) -> None:
    text = line * (5_000_000 // len(line))
    (good / "long.c").write_text(text)
    result = scanned(good)
    assert result.warnings == [f"long.c: a line of {len(text)} characters: not source code"]
    assert "good" in functions(result)


@pytest.mark.parametrize("line", ["(", "{", "*&", '"', "/*", "#define A (", "f(g(h(", "if (a)"])
def test_a_megabyte_of_nothing(good: Path, line: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Scanned, or given up in time with a warning; the rest of the tree is read."""
    monkeypatch.setattr(worker_processes, "SECONDS", 3.0)
    monkeypatch.setattr(source_file_reader, "SECONDS", 2.0)
    (good / "long.c").write_text((line + "\n") * (1_000_000 // (len(line) + 1)))
    before = sum(os.times()[:4])
    result = scanned(good)
    assert sum(os.times()[:4]) - before < 30  # seconds of CPU time, that of ended processes too
    assert "good" in functions(result)
    reasons = ("stopped reading after ", "cut off: ", "do not balance: ")
    assert all(any(words in text for words in reasons) for text in result.warnings)


def test_a_file_that_takes_too_long_is_read_in_part(
    good: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    clock = SimpleNamespace(process_time=partial(next, count()))  # a second a look
    monkeypatch.setattr(source_file_reader, "time", clock)
    text = "".join(f"int f{n}(struct sk_buff *skb) {{ return g(skb); }}\n" for n in range(200))
    (good / "long.c").write_text(text)
    run = Run(good, [], 1, tmp_path / "cache")
    result = tables(run, Options(), Progress(quiet=True))
    assert [row["line"] for row in result.direct if row["file"] == "long.c"] == [*range(1, 121)]
    left = (
        "stopped reading after 120 s of CPU time at line 121: the text after this line is not read"
    )
    assert result.warnings == [f"long.c: {left}"]
    # Nothing of it is kept: with more time it is read as a whole.
    monkeypatch.setattr(source_file_reader, "SECONDS", 1000.0)
    assert not tables(run, Options(), Progress(quiet=True)).warnings


def test_deep_nesting(good: Path) -> None:
    deep = "(" * 30_000 + "skb" + ")" * 30_000
    blocks = "{" * 5_000 + "}" * 5_000
    (good / "deep.c").write_text(
        f"int deep(struct sk_buff *skb)\n{{\n\treturn f({deep});\n}}\n"
        f"int blocks(struct sk_buff *skb)\n{{\n{blocks}\n}}\n"
    )
    assert {"good", "deep", "blocks"} <= functions(scanned(good))


def test_a_chain_of_structs_takes_memory_by_its_length(good: Path) -> None:
    """Each of them was listed with the whole chain below it: 20,000 took 10 GiB."""
    chain = "".join(f"struct s{n} {{ struct s{n - 1} *next; }};\n" for n in range(1, 2000))
    (good / "chain.h").write_text(f"struct s0 {{ struct sk_buff *skb; }};\n{chain}")
    forms = {row["name"]: row["via"] for row in scanned(good).polymorphism}
    assert len(forms) == 2001
    assert forms["struct s3"] == ["struct s2", "struct s1", "struct s0", "struct sk_buff"]
    assert forms["struct s1999"][-3:] == ["struct s1950", "...", "struct sk_buff"]
    assert sum(map(len, forms.values())) < 60 * len(forms)


def test_endless_macros(good: Path) -> None:
    (good / "macros.c").write_text(
        "#define A(x) B(x)\n#define B(x) A(x)\n#define C(x) C(C(x)) good(x)\n"
        "#define list_a(x) list_b(x)\n#define list_b(x) list_a(x)\n#define T struct T\n"
        + "".join(f"#define M{n}(x) M{n + 1}(x) M{n + 1}(x) M{n + 2}(x)\n" for n in range(60))
        + "#define M60(x) good(x)\n#define M61(x) good(x)\n"
        "int looping(struct sk_buff *skb)\n{\n\tA(skb); C(skb); M0(skb);\n"
        "\tlist_a(skb) { good(skb); }\n\treturn 0;\n}\n"
    )
    assert "looping" in functions(scanned(good))


def test_types_in_a_circle(good: Path) -> None:
    (good / "circle.c").write_text(
        "typedef a_t b_t;\ntypedef b_t a_t;\ntypedef a_t a_t;\n"
        "struct r { struct r r; a_t a; struct sk_buff *skb; };\n"
        "int circle(struct r *r, a_t a) { return f(r->r.r.r.r.skb, r->a.x.y); }\n"
    )
    assert "circle" in functions(scanned(good))


def test_links_are_not_followed(good: Path) -> None:
    (good / "inner").mkdir()
    (good / "inner" / "loop").symlink_to(good, target_is_directory=True)
    (good / "broken.c").symlink_to("nowhere.c")
    found = listing(good, ["."])
    assert [file.path for file in found.files] == ["good.c"]
    assert found.links == 2
    assert not found.warnings


def test_unreadable_folder_is_named(good: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Root may read everything, so the system call is made to fail."""
    (good / "secret").mkdir()
    (good / "secret" / "x.c").write_text(GOOD)
    scandir = os.scandir

    def refuse(path: str) -> object:
        if str(path).endswith("secret"):
            raise PermissionError(13, "Permission denied", str(path))
        return scandir(path)

    monkeypatch.setattr(os, "scandir", refuse)
    result = scanned(good)
    assert result.warnings == [f"{good / '.' / 'secret'}: Permission denied"]
    assert "good" in functions(result)


def test_an_empty_folder_is_no_tree(tmp_path: Path) -> None:
    with pytest.raises(BadTree, match=r"no file \*\.c or \*\.h in it"):
        scanned(tmp_path)


@pytest.mark.parametrize(
    ("inner", "read"),
    [
        (("include", "net"), {"include", "net"}),
        (("include", "src"), {"include", "src"}),
        (("net", "src"), {"net", "src"}),
        (("src", ".git"), {"src"}),
    ],
)
def test_include_and_net_alone_are_read_if_both_are_there(
    tmp_path: Path, inner: tuple[str, ...], read: set[str]
) -> None:
    for name in (*inner, "lib"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "a.c").write_text(GOOD)
    found = {row["file"].partition("/")[0] for row in scanned(tmp_path).direct}
    assert found == (read if len(read & {"include", "net"}) == 2 else read | {"lib"})


def test_a_pipe_is_named_and_not_read(good: Path) -> None:
    os.mkfifo(good / "pipe.c")
    assert scanned(good).warnings == ["pipe.c: not a regular file"]


def test_no_such_tree(tmp_path: Path) -> None:
    with pytest.raises(BadTree, match="no such folder"):
        scanned(tmp_path / "nowhere")
    (tmp_path / "file").write_text("")
    with pytest.raises(BadTree, match="not a folder"):
        scanned(tmp_path / "file")
