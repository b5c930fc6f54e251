# SPDX-License-Identifier: MIT
"""Definitions for who edits source: every position is that of the file's bytes."""

from __future__ import annotations

from pathlib import Path

from scanner.parse.definitions import Definition, compound_statements, definitions
from scanner.source.macro_table import learn
from scanner.source.normalise import Normaliser
from scanner.source.prepared_file import defines

TREES = Path(__file__).parent / "trees"


def read(tree: str, file: str) -> tuple[bytes, dict[str, Definition]]:
    macros = [m for path in (TREES / tree).rglob("*.[ch]") for m in defines(path.read_bytes())]
    data = (TREES / tree / file).read_bytes()
    found = definitions(data, Normaliser(learn(macros)))
    return data, {definition.name: definition for definition in found}


def test_spans_are_exact() -> None:
    for tree, file in (("today", "net/core.c"), ("old", "net/old.c")):
        data, found = read(tree, file)
        assert found
        for one in found.values():
            assert data[one.body : one.body + 1] == b"{", one.name
            assert data[one.end - 1 : one.end] == b"}", one.name
            if not one.head:
                assert data[one.name_at :].startswith(one.name.encode())
            for seen in one.returns:
                assert one.body < seen.start < seen.end < one.end
                assert data[seen.start :].startswith(b"return")
                assert data[seen.end - 1 : seen.end] == b";"


def test_returns_of_every_branch() -> None:
    data, found = read("today", "net/core.c")
    values = [data[r.value : r.value_end].decode() for r in found["guarded"].returns]
    assert values == [
        "finish(skb)",
        "min_t(int, a, 2)",
        "container_of(cb, struct frame, cb)->size",
    ]
    assert [data[r.value : r.value_end] for r in found["headed"].returns] == [b"finish(skb)", b"0"]


def test_bodies_are_parsed() -> None:
    _, found = read("today", "net/core.c")
    kinds = [type(node).__name__ for node in compound_statements(found["guarded"].parsed)]
    assert {"Switch", "Return", "While"} <= set(kinds)
    assert all(one.parser == "pycparser" for one in found.values())


def test_heads_by_macros_are_named() -> None:
    _, found = read("today", "net/core.c")
    assert found["sys_sendit"].head == "SYSCALL_DEFINE3"
    assert found["bpf_length"].head == "BPF_CALL_2"
    _, found = read("old", "net/old.c")
    assert found["meta_var_dev"].head == "META_COLLECTOR"


def test_annotations_against_probes_are_reported() -> None:
    source = b"static notrace int f(int a)\n{\n\treturn a;\n}\nnoinstr\nvoid g(void) { }\n"
    found = definitions(source, Normaliser(learn([])))
    assert found[0].annotations == ("notrace",)
