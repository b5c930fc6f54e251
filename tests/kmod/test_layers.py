# SPDX-License-Identifier: MIT
"""The module's files call only down its layers, which a comment in kbl_internal.h states."""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path
from typing import NamedTuple

KMOD = Path(__file__).resolve().parents[2] / "kmod"
LAYER = re.compile(r"^ \* (?P<layer>[a-z][a-z ]*): +(?P<files>[a-z0-9_. ]+)$", re.MULTILINE)
FUNCTION = re.compile(
    r"^(?P<head>[a-z][^\n;#=(]*?)\b(?P<name>kbl_\w+)\([^;{]*?\)\n\{\n(?P<body>.*?)^\}",
    re.MULTILINE | re.DOTALL,
)
NO_CODE = re.compile(r'/\*.*?\*/|//[^\n]*|"(?:\\.|[^"\\\n])*"', re.DOTALL)
# A C file and the header with its inline half call each other; so do the halves of an entry.
TOGETHER = (
    {"kbl_hot.h", "kbl_call.c", "kbl_call_exit.c", "kbl_call_packet.c"},
    {"kbl_record.h", "kbl_relay_batch.c"},
    {"kbl_footprint.c", "kbl_footprint.h", "kbl_known.h"},
)


class Function(NamedTuple):
    """A function: the file that defines it, and the kbl_ functions that it calls by name."""

    file: str
    name: str
    local: bool  # seen in its own file only
    calls: frozenset[str]


def functions(sources: dict[str, str]) -> list[Function]:
    """Return the functions defined in C sources, by file name; both halves of an #if count."""
    found = []
    for file, text in sources.items():
        for f in FUNCTION.finditer(NO_CODE.sub("", text)):
            local = file.endswith(".c") and "static" in f["head"].split()
            calls = frozenset(re.findall(r"\b(kbl_\w+)\(", f["body"]))
            found.append(Function(file, f["name"], local, calls))
    return found


def calls_between_files(found: list[Function]) -> set[tuple[str, str, str]]:
    """Return (calling file, called file, called function) of all calls that leave a file."""
    local = {(f.file, f.name) for f in found}
    places = {f.name: f.file for f in found if not f.local}
    return {
        (f.file, places[name], name)
        for f in found
        for name in f.calls
        if (f.file, name) not in local and name in places
    }


def read_layers(text: str) -> dict[str, int]:
    """Return the layer of each file, 0 for the top; raises ValueError if one stands twice."""
    layers: dict[str, int] = {}
    for number, line in enumerate(LAYER.finditer(text)):
        for word in line["files"].split():
            name = f"kbl_{word}" if "." in word else f"kbl_{word}.c"
            if name in layers:
                raise ValueError(f"{name} is in two layers")
            layers[name] = number
    return layers


def calls_up(layers: dict[str, int], calls: set[tuple[str, str, str]]) -> list[str]:
    """Return the calls that go from a lower layer to a higher one."""
    up = [c for c in calls if layers[c[1]] < layers[c[0]]]
    return [f"{file} calls {name}() of {called}" for file, called, name in sorted(up)]


@cache
def module_sources() -> dict[str, str]:
    """Return the text of the module's C files and headers by name."""
    return {p.name: p.read_text() for p in sorted(KMOD.glob("kbl_*.[ch]"))}


@cache
def module_calls() -> set[tuple[str, str, str]]:
    """Return the calls between the module's files."""
    return calls_between_files(functions(module_sources()))


@cache
def module_layers() -> dict[str, int]:
    """Return the layers of the module's files."""
    return read_layers(module_sources()["kbl_internal.h"])


def test_every_file_with_functions_is_in_a_layer() -> None:
    layers = module_layers()
    assert len(set(layers.values())) > 8
    assert {f.file for f in functions(module_sources())} == set(layers)


def test_no_call_goes_up() -> None:
    calls = module_calls()
    assert len(calls) > 150
    assert calls_up(module_layers(), calls) == []


def test_no_files_call_one_another_in_a_circle() -> None:
    below: dict[str, set[str]] = {}
    for file, called, _ in module_calls():
        below.setdefault(file, set()).add(called)
    for file in below:
        reached = _reachable(below, file)
        circle = {other for other in reached if file in _reachable(below, other)}
        assert not circle or any(circle <= group for group in TOGETHER), circle


def _reachable(below: dict[str, set[str]], file: str) -> set[str]:
    reached: set[str] = set()
    todo = [file]
    while todo:
        new = below.get(todo.pop(), set()) - reached
        reached |= new
        todo += new
    return reached


def test_a_call_up_is_found() -> None:
    low = "/* kbl_high(1) */\nstatic int kbl_own(void)\n{\n\treturn kbl_high(2);\n}\n"
    high = "int kbl_high(int value)\n{\n\treturn value;\n}\n"
    calls = calls_between_files(functions({"kbl_low.c": low, "kbl_high.c": high}))
    layers = read_layers(" * one: high\n * two: low\n")
    assert calls_up(layers, calls) == ["kbl_low.c calls kbl_high() of kbl_high.c"]
    assert calls_up({"kbl_high.c": 1, "kbl_low.c": 0}, calls) == []


def test_a_static_function_of_another_file_is_no_target() -> None:
    one = "void kbl_one(void)\n{\n\tkbl_same();\n}\n"
    two = "static void kbl_same(void)\n{\n}\n"
    assert calls_between_files(functions({"kbl_one.c": one, "kbl_two.c": two})) == set()
