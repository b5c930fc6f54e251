# SPDX-License-Identifier: MIT
"""The committed layout equals that of kbl.h, by the compiler and by the generator."""

from __future__ import annotations

import importlib.util
import subprocess
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest

from skbviewer.records import kbl_layout as layout

KMOD = Path(__file__).resolve().parents[2] / "kmod"


@pytest.fixture(scope="module")
def generator() -> ModuleType:
    """kmod/gen_layout.py as a module: it lies outside any package."""
    spec = importlib.util.spec_from_file_location("gen_layout", KMOD / "gen_layout.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_regenerated_text_is_the_committed_text(generator: ModuleType) -> None:
    committed = Path(layout.__file__).read_text()
    assert generator.render(KMOD / "kbl.h") == committed


def test_implicit_padding_is_refused(generator: ModuleType, tmp_path: Path) -> None:
    header = tmp_path / "bad.h"
    header.write_text("typedef uint8_t kbl_u8;\nstruct bad { kbl_u8 a; kbl_u32 b; };\n")
    header.write_text(header.read_text().replace("kbl_u32", "uint32_t"))
    generator.CODES["uint32_t"] = ("<u4", 4)
    with pytest.raises(ValueError, match="implicit padding"):
        generator.read_header(header)


def compiler_view(tmp_path: Path) -> list[str]:
    """Return "struct field offset size" lines printed by a compiled program."""
    lines = []
    for name, dtype in layout.DTYPES.items():
        lines.append(f'printf("{name} - %zu 0\\n", sizeof(struct {name}));')
        for field in dtype.names or ():
            where = f"offsetof(struct {name}, {field})"
            size = f"sizeof(((struct {name} *)0)->{field})"
            lines.append(f'printf("{name} {field} %zu %zu\\n", {where}, {size});')
    source = tmp_path / "layout.c"
    head = '#include <stdio.h>\n#include <stddef.h>\n#include "kbl.h"\n'
    source.write_text(head + "int main(void)\n{\n" + "\n".join(lines) + "\nreturn 0;\n}\n")
    program = tmp_path / "layout"
    command = ["cc", "-Wall", "-Werror", f"-I{KMOD}", "-o", str(program), str(source)]
    subprocess.run(command, check=True)
    done = subprocess.run([str(program)], capture_output=True, text=True, check=True)
    return done.stdout.splitlines()


def test_compiler_agrees_on_every_field(tmp_path: Path) -> None:
    ours = []
    for name, dtype in layout.DTYPES.items():
        ours.append(f"{name} - {dtype.itemsize} 0")
        assert dtype.fields is not None
        for field in dtype.names or ():
            kind, offset = dtype.fields[field][:2]
            ours.append(f"{name} {field} {offset} {kind.itemsize}")
    assert compiler_view(tmp_path) == ours


def test_every_struct_of_the_header_is_there(generator: ModuleType) -> None:
    text = (KMOD / "kbl.h").read_text()
    declared = [line.split()[1] for line in text.splitlines() if line.startswith("struct ")]
    assert declared == list(layout.DTYPES)


def test_slots_are_slot_sized() -> None:
    slots = [n for n in layout.DTYPES if n.endswith("_slot") or n.startswith("kbl_ext_")]
    assert len(slots) == 18
    assert {layout.DTYPES[n].itemsize for n in slots} == {layout.KBL_SLOT_SIZE}


@pytest.mark.parametrize(("order", "raw"), [("<", b"\x01\x00"), (">", b"\x00\x01")])
def test_byte_order_swaps_numbers_not_bytes(order: str, raw: bytes) -> None:
    dtype = layout.in_order(layout.KBL_EXT_IPV4, order)
    slot = bytearray(dtype.itemsize)
    slot[4:6] = raw
    slot[8:12] = bytes([10, 9, 0, 1])
    row = np.frombuffer(bytes(slot), dtype)[0]
    assert row["ip_id"] == 1
    assert row["saddr"].tolist() == [10, 9, 0, 1]
