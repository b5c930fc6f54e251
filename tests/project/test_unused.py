# SPDX-License-Identifier: MIT
"""The program has no function that only tests use, and no number or word that has a place already.

A function counts as used if its name is in the code of the program a second time.
"""

from __future__ import annotations

import ast
import re
from collections import Counter
from collections.abc import Iterator

from .tree import ROOT, project_files

PROGRAM = ("skbviewer/", "scanner/")
# Called by name: by Qt and pyqtgraph, by pycparser, by SQLAlchemy; or generated from kbl.h.
CALLED_BY_OTHERS = {
    *("keyboardSearch", "contextMenuEvent", "dragEnterEvent", "dropEvent", "mouseMoveEvent"),
    *("tickSpacing", "tickStrings", "mouseDragEvent", "mouseClickEvent", "leaveEvent"),
    *("valueFromText", "validate", "createEditor"),
    *("_peek_type", "_advance", "_accept", "_reset", "_tok_coord"),
    *("_parse_attribute_specifier_sequence", "configure"),
    *("KblContext", "KblCarrier", "KblMechanism"),
    "_index_key",  # by numba
    "load_overload",  # by numba
    "from_session",  # by users of the Python API
}
# The command's table and the modules' own `main`.
STARTED = {"skbviewer/__main__.py", "scanner/cli.py"}
LIMIT = re.compile(r"iinfo\(np\.int64\)|1 << 63\) - 1|2 ?\*\* ?63")
LIMITS = {
    "skbviewer/records/types.py",
    "skbviewer/analysis/leg_times/missed_probe_hits.py",
    "skbviewer/analysis/fields/tcp_analysis.py",  # a quarter of it, so that sums do not wrap around
}
PROTOCOL_NUMBER = re.compile(r"^(?:IPPROTO_)?(?:TCP|UDP|ICMP|ICMPV6|SCTP) = \d+", re.MULTILINE)
RELATION_WORDS = re.compile(r"clone or segment|merged into this", re.IGNORECASE)


def program() -> Iterator[tuple[str, str]]:
    """Yield path and text of each module of the program."""
    for name in project_files():
        if name.startswith(PROGRAM) and name.endswith(".py"):
            yield name, (ROOT / name).read_text(encoding="utf-8")


def test_no_function_or_class_is_for_tests_only() -> None:
    words: Counter[str] = Counter()
    for _, text in program():
        words.update(re.findall(r"\w+", text))
    unused = [
        f"{name}:{node.lineno} {node.name}"
        for name, text in program()
        for node in ast.walk(ast.parse(text))
        if isinstance(node, ast.FunctionDef | ast.ClassDef)
        and not node.name.startswith("__")
        and words[node.name] == 1
        and node.name not in CALLED_BY_OTHERS
    ]
    assert not unused, f"use or remove: {unused}"


def test_no_module_is_for_tests_only() -> None:
    imported: set[str] = set()
    for name, text in program():
        package = name.removesuffix(".py").split("/")[:-1]
        for node in ast.walk(ast.parse(text)):
            if isinstance(node, ast.ImportFrom):
                base = package[: len(package) - node.level + 1] if node.level else []
                whole = "/".join([*base, *(node.module or "").split(".")]).strip("/")
                imported |= {whole} | {f"{whole}/{alias.name}" for alias in node.names}
            elif isinstance(node, ast.Import):
                imported |= {alias.name.replace(".", "/") for alias in node.names}
    started = {f"skbviewer/cli/{word}" for word in _commands()}
    unused = [
        name
        for name, _ in program()
        if not name.endswith("__init__.py")
        and name not in STARTED
        and name.removesuffix(".py") not in imported | started
    ]
    assert not unused, f"use or remove: {unused}"


def _commands() -> list[str]:
    """Return the names of the modules that cli/main.py loads by name."""
    return re.findall(r'"\.?(\w+)"', (ROOT / "skbviewer/cli/main.py").read_text(encoding="utf-8"))


def test_limits_of_int64_have_one_place() -> None:
    own = [name for name, text in program() if name not in LIMITS and LIMIT.search(text)]
    assert not own, f"take INT64_MAX, EARLIEST_NS or LATEST_NS of records.types: {own}"


def test_numbers_of_protocols_have_one_place() -> None:
    own = [name for name, text in program() if PROTOCOL_NUMBER.search(text)]
    assert own == ["skbviewer/records/protocols.py"]


def test_words_for_branches_have_one_place() -> None:
    own = [name for name, text in program() if RELATION_WORDS.search(text)]
    assert own == ["skbviewer/analysis/words/leg_kind_words.py"]
