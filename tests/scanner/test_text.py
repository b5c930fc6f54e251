# SPDX-License-Identifier: MIT
"""The normaliser keeps every length, whatever it reads; every #if branch is shown."""

from __future__ import annotations

import random
from pathlib import Path

import pytest

from scanner.source.comment_blanking import branch_groups, choices, hide_literals
from scanner.source.macro_replacement import Normaliser
from scanner.source.macro_table import learn
from scanner.source.prepared_file import defines, prepare, variants

TREES = Path(__file__).parent / "trees"
FILES = sorted(TREES.rglob("*.[ch]"))
PIECES = [
    "/*", "*/", "//", '"', "'", "\\", "\n", "\\\n", "#if A\n", "#else\n", "#endif\n", "(", ")",
    "{", "}", "static ", "int f(struct sk_buff *skb)", "for_each_x(a, b) ", "\n#define X(a) a\n",
    "__init ", "__attribute__((x))", "asm volatile", "FOO(x)\n", "SYSCALL_DEFINE1(a, int, b)",
    "return", ";", "\xe9", " ", "\t", "?:", "typeof(x)", "int g(a)\nint a;\n{", "\r\n",
]  # fmt: skip


@pytest.mark.parametrize("file", FILES, ids=lambda path: path.name)
def test_positions_stay(file: Path) -> None:
    data = file.read_bytes()
    _same_shape(data)
    normal = Normaliser(learn(defines(data)))
    for _, text in variants(prepare(data)):
        # What is left of the text stands where it stood.
        for was, now in zip(data.decode("latin-1"), normal.normalise(text).text, strict=True):
            assert now in (was, " ", "~", '"', "0", "\\") or now in "while static int z();"


@pytest.mark.parametrize("seed", range(300))
def test_lengths_stay_for_any_text(seed: int) -> None:
    choose = random.Random(seed)
    _same_shape("".join(choose.choices(PIECES, k=60)).encode("latin-1"))


def _same_shape(data: bytes) -> None:
    prepared = prepare(data)
    normaliser = Normaliser(learn(defines(data)))
    newlines = [i for i, byte in enumerate(data) if byte == 10]
    for _, text in variants(prepared):
        normal = normaliser.normalise(text)
        for result in (text, normal.text, normal.old_style):
            assert len(result) == len(data)
            assert [i for i, char in enumerate(result) if char == "\n"] == newlines


def test_literals_are_hidden() -> None:
    text = 'a = "x{\\"}"; /* { \n */ c = \'{\'; // {'
    hidden = hide_literals(text)
    assert "{" not in hidden and len(hidden) == len(text)
    assert hidden.index("c =") == text.index("c =")


def shown(text: str) -> list[str]:
    return ["".join(part.split()) for _, part in variants(prepare(text.encode()))]


def test_branches_of_one_group() -> None:
    assert shown("#ifdef A\na\n#elif B\nb\n#else\nc\n#endif\n") == ["a", "c", "b"]
    assert shown("#if 0\na\n#endif\nb\n") == ["b"]
    assert shown("#if 1\na\n#else\nb\n#endif\n") == ["a"]
    assert shown("#ifdef __cplusplus\na\n#endif\n#ifdef A\nb\n#endif\n") == ["b"]
    assert shown("#ifndef __ASSEMBLY__\na\n#else\nb\n#endif\n") == ["a"]


def test_branches_that_belong_together_stay_together() -> None:
    text = "#ifdef A\na{\n#else\nb{\n#endif\n#ifdef A\n}a\n#else\n}b\n#endif\n"
    assert shown(text) == ["a{}a", "b{}b"]


def test_nested_branches_are_all_shown() -> None:
    text = "#ifdef A\n#ifdef B\na\n#else\nb\n#endif\n#else\n#ifdef C\nc\n#else\nd\n#endif\n#endif\n"
    assert set(shown(text)) == {"a", "b", "c", "d"}


def test_hostile_nesting_has_an_end() -> None:
    text = "#if A\nx\n#else\n" * 2000
    groups = branch_groups(prepare(text.encode()).directives, len(text))
    assert 2 <= len(list(choices(groups))) <= 8
