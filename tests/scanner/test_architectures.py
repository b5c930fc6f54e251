# SPDX-License-Identifier: MIT
"""Functions of each architecture count once; a macro counts only near its file."""

from __future__ import annotations

from pathlib import Path

import pytest

from scanner import call_graph_drawing
from scanner.cached_tables import Run, tables
from scanner.progress import Progress
from scanner.source.architectures import architecture, main_architecture
from scanner.tables.three_tables import Options, Result

SKB = "struct sk_buff { void *data; };\n"


def scanned(root: Path, files: dict[str, str], options: Options | None = None) -> Result:
    for name, text in files.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text)
    run = Run(root, ["."], 1, None)
    return tables(run, options or Options(), Progress(quiet=True))


def witnesses(result: Result) -> set[tuple[str, str]]:
    return {(row["witness"]["caller"], row["witness"]["callee"]) for row in result.indirect}


SUM = "static inline int fast(void *any)\n{\n\treturn slow(any);\n}\n"
COPIES = {
    "include/skbuff.h": SKB,
    "net/in.c": "int rx(struct sk_buff *skb)\n{\n\treturn fast(skb->data);\n}\n",
    **{f"include/asm-{name}/sum.h": SUM for name in ("arm", "i386", "s390")},
    "include/asm-generic/sum.h": "static inline int slow(void *any)\n{\n\treturn 0;\n}\n",
}


@pytest.mark.parametrize(("wanted", "found"), [("", "i386"), ("s390", "s390")])
def test_copies_of_architectures_count_once(tmp_path: Path, wanted: str, found: str) -> None:
    result = scanned(tmp_path, COPIES, Options(arch=wanted))
    files = {row["function"]: row["file"] for row in result.indirect}
    assert files == {"fast": f"include/asm-{found}/sum.h", "slow": "include/asm-generic/sum.h"}
    assert len(result.indirect) == 2
    seen, edges = call_graph_drawing.reachable(result.functions, result.edges, "rx", 5)
    assert len(seen) == 3 and len(edges) == 2
    assert sum(row["copy"] for row in result.functions) == 2


def test_an_architecture_that_is_not_there_is_reported(tmp_path: Path) -> None:
    result = scanned(tmp_path, COPIES, Options(arch="vax"))
    assert result.warnings == ["vax: no such architecture, so i386 represents all"]


def test_macros_of_another_architecture_make_no_callers(tmp_path: Path) -> None:
    files = COPIES | {
        "include/asm-s390/debug.h": "#define kfree(x) print(x)\n"
        "static inline int print(struct sk_buff *skb)\n{\n\treturn 1;\n}\n",
        "net/user.c": "void user(void)\n{\n\tstruct sk_buff *skb = get();\n\tkfree(skb);\n}\n",
    }
    assert ("user", "print") not in witnesses(scanned(tmp_path, files))
    assert ("user", "print") in witnesses(scanned(tmp_path, files, Options(arch="s390")))
    inside = {"include/asm-s390/user.h": files.pop("net/user.c")}
    (tmp_path / "net/user.c").unlink()
    assert ("user", "print") in witnesses(scanned(tmp_path, files | inside))


def test_a_macro_is_that_of_the_file_or_its_folder(tmp_path: Path) -> None:
    user = "void in_{0}(void)\n{{\n\tstruct sk_buff *skb = get();\n\tput(skb);\n}}\n"
    result = scanned(
        tmp_path,
        {
            "lib/all.h": SKB + "#define put(x) put_all(x)\nint put_all(struct sk_buff *s) { }\n",
            "b/b.h": "#include <lib/all.h>\n",
            "a/a.h": "#define put(x) put_a(x)\n",
            "a/own.c": "#define put(x) put_own(x)\n" + user.format("own"),
            "a/use.c": user.format("a") + "int put_a(struct sk_buff *skb) { }\n",
            "b/use.c": '#include "b.h"\n'
            + user.format("b")
            + "int put_own(struct sk_buff *skb) { }\n",
        },
    )
    assert witnesses(result) == {("in_own", "put_own"), ("in_a", "put_a"), ("in_b", "put_all")}


@pytest.mark.parametrize(
    ("path", "name"),
    [
        ("include/asm-i386/a.h", "i386"),
        ("include/asm-generic/a.h", ""),
        ("arch/s390/net/a.c", "s390"),
        ("lib/eal/arm/include/a.h", "arm"),
        ("net/ipv4/arm.c", ""),
        ("net/ipv4/tcp.c", ""),
    ],
)
def test_architecture_by_folder(path: str, name: str) -> None:
    assert architecture(path) == name


def test_x86_stands_for_all_if_it_is_there() -> None:
    paths = ["arch/arm/a.c", "arch/zeta/a.c", "arch/x86/a.c", "net/a.c"]
    assert main_architecture(paths) == "x86"
    assert main_architecture(paths[:2]) == "arm"
    assert main_architecture(paths[3:]) == ""
    assert main_architecture(paths, "zeta") == "zeta"
