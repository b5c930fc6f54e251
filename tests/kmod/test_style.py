# SPDX-License-Identifier: MIT
"""The C sources keep the kernel's style, as far as a few rules can tell."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

KMOD = Path(__file__).resolve().parents[2] / "kmod"
SOURCES = sorted(KMOD.glob("*.[ch]"))
KERNEL = [p for p in SOURCES if p.name.startswith("kbl_")]
# Where a probe of any kind comes in.
HANDLERS = re.compile(r"kbl_(enter_as|leave|\w+_(entry|exit)|batch_open|batch_close)")
FUNCTION = re.compile(
    r"^(?P<head>[a-z][^\n;#]*?)\b(?P<name>kbl_\w+)\([^;{]*?\)\n\{\n(?P<body>.*?)^\}",
    re.MULTILINE | re.DOTALL,
)


def width(line: str) -> int:
    """Columns of a line, a tab being eight."""
    return len(line.expandtabs(8))


@pytest.mark.parametrize("path", SOURCES, ids=lambda p: p.name)
def test_layout_of_lines(path: Path) -> None:
    for number, line in enumerate(path.read_text().splitlines(), 1):
        assert width(line) <= 100, f"{path.name}:{number}"
        assert line == line.rstrip(), f"{path.name}:{number}"
        assert not re.match(r"\t* {8}", line), f"{path.name}:{number}: spaces for a tab"


@pytest.mark.parametrize("path", SOURCES, ids=lambda p: p.name)
def test_licence_is_the_first_line(path: Path) -> None:
    first = path.read_text().splitlines()[0]
    licence = "GPL-2.0-only" if path in KERNEL else "MIT"
    if path.name in ("kbl.h", "kbl_map.h"):
        licence = "GPL-2.0-only OR MIT"
    text = f"SPDX-License-Identifier: {licence}"
    assert first == (f"// {text}" if path.suffix == ".c" else f"/* {text} */")


@pytest.mark.parametrize("path", SOURCES, ids=lambda p: p.name)
def test_no_packed_structs_and_no_reserve(path: Path) -> None:
    code = re.sub(r"/\*.*?\*/", "", path.read_text(), flags=re.DOTALL)
    assert "packed" not in code
    assert "relay_reserve" not in code


def test_what_the_handlers_call_cannot_be_probed() -> None:
    """Each function of the module reachable from a handler is inline or on the blacklist."""
    text = "".join(path.read_text() for path in KERNEL)
    text = re.sub(r"/\*.*?\*/", "", text, flags=re.DOTALL)
    found = list(FUNCTION.finditer(text))
    bodies = {f["name"]: f["body"] for f in found}
    listed = set(re.findall(r"NOKPROBE_SYMBOL\((\w+)\)", text))
    listed |= {f["name"] for f in found if "inline" in f["head"]}
    reached: set[str] = set()
    todo = [name for name in bodies if HANDLERS.fullmatch(name) and name in listed]
    assert {"kbl_enter_as", "kbl_leave", "kbl_batch_open"} <= set(todo)
    while todo:
        name = todo.pop()
        if name in reached or name not in bodies:
            continue
        reached.add(name)
        todo += re.findall(r"\b(kbl_\w+)\(", bodies[name])
    assert len(reached) > 40
    assert reached - listed == set()
