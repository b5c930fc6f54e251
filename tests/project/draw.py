# SPDX-License-Identifier: MIT
"""Draw sentences, functions and files at random, for a reader who judges how clear they are.

``python -m tests.project.draw sentences SEED`` prints 60 sentences: a third each from documents,
docstrings and messages.  ``functions`` prints 30 public functions, ``files`` 30 names of files
(with ``--answers`` also what is in them).  The seed is a commit's hash; ``HASH+1`` is another one.
The same seed and the same tree give the same draw.
"""

from __future__ import annotations

import argparse
import ast
import random
import re
from ast import FunctionDef
from collections.abc import Iterator
from functools import cache
from typing import NamedTuple

from .tree import ROOT, project_files

CODE = ("skbviewer/", "scanner/", "kmod/")
LEAST_WORDS, SENTENCES, THINGS = 6, 60, 30
END = re.compile(r"(?<=[.!?])(?<!Ann\.)(?<!Scand\.)(?<! J\.)\s+(?=[A-Z`\"(])")
CODE_BLOCK = re.compile(r"^```[\s\S]*?^```$|(?:(?<=\n\n)(?: {4,}\S.*\n+)+)", re.MULTILINE)
NO_TEXT = re.compile(r"^\|.*$|^#.*$|<!--[^>]*-->", re.MULTILINE)
NO_SENTENCE = re.compile(
    r"SELECT |CASE | IS NOT |JOIN |WHERE |UPDATE | IS NULL|"  # SQL
    r"[{};<>]\s*$|[*%]|NAME \[CARRIER|^\s*\([a-z_]+.*\) @[a-z]+|"  # code, grammars, queries
    r" (?:&&|\|\||==|!=|>=) |\b\w+ = |KBL_[A-Z]|"  # display filters, layouts of records
    r"[A-Z\d_]{3,} [A-Z\d_]{3,} ",
    re.DOTALL,
)
# A text without any of these words and without punctuation is a list of words.
LINKING = re.compile(
    r"\b(?:an?|the|of|to|in|on|at|by|for|from|with|as|than|and|or|not|no|is|are|was|were|has|have|be|"
    r"that|which|its?|this|these|if|per|into|while|after|between|what)\b|[.,:;?!…(]",
    re.IGNORECASE,
)
WORD_LIST = re.compile(r"(?:^|\s)_\w+ .*_\w+|\bcase char const\b")
BLOCK = "[code]"
DEFINITIONS = ast.Module | ast.ClassDef | FunctionDef
KINDS = ("documents", "docstrings", "messages")


class Found(NamedTuple):
    """A text and where it is."""

    place: str
    text: str


def sentences(text: str) -> Iterator[str]:
    """Yield the sentences of a text, each on one line."""
    for paragraph in re.split(r"\n\s*\n|\n\s*(?=[-*] |\d+\. )", text):
        for sentence in END.split(" ".join(paragraph.split())):
            if len(sentence.split()) >= LEAST_WORDS:
                yield sentence


def documents() -> Iterator[Found]:
    """Yield the sentences of all documents for people, without code and tables."""
    for name in project_files():
        if name.endswith(".md") and name.startswith(("docs/", *"ACRS")):
            for sentence in sentences(without_code((ROOT / name).read_text(encoding="utf-8"))):
                yield Found(name, sentence)


def without_code(text: str) -> str:
    """Return a document without tables, headings and code.

    "[code]" stands for a block that the next paragraph goes on from, as in "[code] prints it."
    """
    text = NO_TEXT.sub("", CODE_BLOCK.sub(f"\n\n{BLOCK}\n\n", text))
    text = re.sub(rf"{re.escape(BLOCK)}\s+(?=[a-z])", f"{BLOCK} ", text)
    return text.replace(f"\n{BLOCK}\n", "\n")


@cache
def modules() -> list[tuple[str, ast.Module]]:
    """Return path and syntax tree of each module of the program."""
    return [
        (name, ast.parse((ROOT / name).read_text(encoding="utf-8")))
        for name in project_files()
        if name.endswith(".py") and name.startswith(CODE)
    ]


def docstrings() -> Iterator[Found]:
    """Yield the sentences of all docstrings of the program."""
    for name, tree in modules():
        for node in ast.walk(tree):
            if isinstance(node, DEFINITIONS):
                for sentence in sentences(ast.get_docstring(node) or ""):
                    yield Found(name, sentence)


def is_sentence(text: str) -> bool:
    """Return whether a text may be read like a sentence: no code, filter, layout or word list."""
    listed = WORD_LIST.search(text) or not LINKING.search(text)
    return not listed and not NO_SENTENCE.search(text)


def messages() -> Iterator[Found]:
    """Yield the texts of the program that are no docstrings and read like a sentence."""
    for name, tree in modules():
        docs = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}
        inside = {
            id(part)
            for node in ast.walk(tree)
            if isinstance(node, ast.JoinedStr)
            for part in node.values
        }
        for node in ast.walk(tree):
            text = ""
            if isinstance(node, ast.JoinedStr):
                text = "".join(map(_part, node.values))
            elif isinstance(node, ast.Constant) and id(node) not in docs | inside:
                text = node.value if isinstance(node.value, str) else ""
            if is_sentence(text):
                for sentence in sentences(text):
                    yield Found(name, sentence)


def _part(node: ast.expr) -> str:
    return str(node.value) if isinstance(node, ast.Constant) else "{...}"


def functions() -> Iterator[Found]:
    """Yield the public functions and methods of the program: arguments, result, docstring."""
    for name, tree in modules():
        for owner, node in _functions_of(tree, ""):
            result = f" -> {ast.unparse(node.returns)}" if node.returns else ""
            head = f"{owner}{node.name}({ast.unparse(node.args)}){result}"
            yield Found(name, f"{head}\n      {ast.get_docstring(node) or ''}")


def _functions_of(tree: ast.Module | ast.ClassDef, owner: str) -> Iterator[tuple[str, FunctionDef]]:
    """Yield the public functions in `tree`, each with its public class and a dot ("Found.")."""
    for node in tree.body:
        if not isinstance(node, FunctionDef | ast.ClassDef) or node.name.startswith("_"):
            continue
        if isinstance(node, ast.ClassDef):
            yield from _functions_of(node, f"{owner}{node.name}.")
        # Qt calls the methods with capitals: its documentation explains them.  An overload only
        # has types: the docstring stands with the function that follows.
        elif node.name.islower() and "overload" not in map(ast.unparse, node.decorator_list):
            yield owner, node


def files(answers: bool) -> Iterator[Found]:
    """Yield the names of the modules; with `answers`, the first lines of their docstrings."""
    for name, tree in modules():
        if not name.endswith("__init__.py"):
            first = (ast.get_docstring(tree) or "").partition("\n")[0]
            yield Found(name, first if answers else "")


def drawn(what: str, seed: int, answers: bool = False) -> list[Found]:
    """Return a random choice of `what`."""
    chance = random.Random(seed)
    if what == "sentences":
        pools = [sorted(set(find())) for find in (documents, docstrings, messages)]
        return [found for pool in pools for found in chance.sample(pool, SENTENCES // len(pools))]
    found = functions() if what == "functions" else files(answers)
    return chance.sample(sorted(found), THINGS)


def seed_of(word: str) -> int:
    """Return the seed that "HASH" or "HASH+N" names; N is decimal."""
    base, _, more = word.partition("+")
    return int(base, 16) + int(more or 0)


def main() -> None:
    """Print a draw."""
    parser = argparse.ArgumentParser(prog="python -m tests.project.draw", description=__doc__)
    parser.add_argument("what", choices=("sentences", "functions", "files"))
    parser.add_argument("seed", type=seed_of, help="hexadecimal, as HASH or HASH+1")
    parser.add_argument("--answers", action="store_true", help="what is in the files")
    args = parser.parse_args()
    for number, found in enumerate(drawn(args.what, args.seed, args.answers), 1):
        print(f"{number:3} {found.place}: {found.text}")


if __name__ == "__main__":
    main()
