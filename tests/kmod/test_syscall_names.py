# SPDX-License-Identifier: MIT
"""The names of system calls: generated, the same in C and JSON, and those of this machine."""

from __future__ import annotations

import ast
import importlib.util
import json
import os
import re
from pathlib import Path
from types import ModuleType

import pytest

TOP = Path(__file__).resolve().parents[2]
KMOD = TOP / "kmod"
MACROS = """
#define __NR_read 63
#define __NR3264_fstatat 79
#define __NR_newfstatat __NR3264_fstatat
#define __NR_syscalls 463
#define __NR_arch_specific_syscall 244
"""


@pytest.fixture(scope="module")
def generator() -> ModuleType:
    """kmod/gen_syscalls.py as a module: it lies outside any package."""
    spec = importlib.util.spec_from_file_location("gen_syscalls", KMOD / "gen_syscalls.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="module")
def tables() -> dict[str, dict[int, str]]:
    """The committed tables."""
    text = json.loads((TOP / "resources/syscalls.json").read_text(encoding="utf-8"))
    return {
        machine: {int(number): name for number, name in text[machine].items()}
        for machine in ("x86_64", "i386", "aarch64")
    }


def test_both_files_are_of_the_same_tables(
    generator: ModuleType, tables: dict[str, dict[int, str]]
) -> None:
    assert generator.render_json(tables) == generator.JSON.read_text(encoding="utf-8")
    assert generator.render_header(tables) == generator.HEADER.read_text(encoding="utf-8")


def test_the_c_arrays_have_the_names_at_their_numbers(tables: dict[str, dict[int, str]]) -> None:
    text = (KMOD / "rec_syscall_names.h").read_text(encoding="utf-8")
    for machine, names in tables.items():
        body = re.search(rf"rec_{machine}_calls\[\] = {{\n(.*?)\n}};", text, re.DOTALL)
        assert body is not None
        found, at = {}, -1
        for place, name in re.findall(r"(?:\[(\d+)\] = )?(\"\w+\")", body[1]):
            at = int(place) if place else at + 1
            found[at] = ast.literal_eval(name)
        assert found == names


def test_macros_are_resolved(generator: ModuleType) -> None:
    assert generator.numbers_of(MACROS) == {63: "read", 79: "newfstatat"}


def test_the_tables_are_complete(tables: dict[str, dict[int, str]]) -> None:
    """Linux 6.12 has the calls up to mseal; from pidfd_send_signal on, all machines agree."""
    assert {len(names) for names in tables.values()} == {375, 452, 318}
    for names in tables.values():
        assert max(names) == 462
        assert set(range(424, 463)) - set(names) <= {447}  # memfd_secret: not everywhere
        assert all(names.get(n, name) == name for n, name in tables["x86_64"].items() if n >= 424)


@pytest.mark.skipif(os.uname().machine != "x86_64", reason="headers of x86")
@pytest.mark.parametrize(("machine", "header"), [("x86_64", "64"), ("i386", "32")])
def test_names_are_those_of_the_machines_headers(
    machine: str, header: str, tables: dict[str, dict[int, str]]
) -> None:
    path = Path(f"/usr/include/x86_64-linux-gnu/asm/unistd_{header}.h")
    if not path.exists():
        pytest.skip("no headers of the kernel")
    found = dict(re.findall(r"^#define __NR_(\w+) (\d+)$", path.read_text(), re.MULTILINE))
    mine = {name: number for number, name in tables[machine].items()}
    newest = max(mine.values())
    later = {name for name, number in found.items() if int(number) > newest}
    assert len(found) > 300
    assert all(mine[name] == int(found[name]) for name in set(found) - later)
