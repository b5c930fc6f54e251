# SPDX-License-Identifier: MIT
"""Small kernel images, made by the assembler and the linker: functions where a log has them."""

from __future__ import annotations

import gzip
import struct
import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

LINKED = 0xFFFFFFFF81000000  # where Linux is linked on x86-64
BANNER = "Linux version {} (somebody) (gcc) {}\n"


class Function(NamedTuple):
    """`at` is its offset from _stext; `calls` maps return addresses, as offsets in it, to names."""

    name: str
    at: int
    calls: Mapping[int, str]


def assembly(functions: Sequence[Function], banner: str) -> str:
    """Return assembly of the functions: each begins with the tracer's call and has a loop."""
    called = {name for one in functions for name in one.calls.values()}
    called -= {one.name for one in functions}
    lines = [".text", ".globl _stext", "_stext:", "nop"]
    for name in sorted({"__fentry__", *called}):
        lines += [f".globl {name}", f".type {name}, @function", f"{name}:", "ret",
                  f".size {name}, . - {name}", ".balign 16"]  # fmt: skip
    for one in functions:
        name = one.name
        lines += [f'.section code_{name}, "ax"', f".globl {name}", f".type {name}, @function"]
        lines += [f"{name}:", "call __fentry__", "test %rdi, %rdi", f"je {name}_out"]
        for after, target in sorted(one.calls.items()):
            lines += [f".org {after - 5}, 0x90", f"call {target}"]
        lines += [f"{name}_out:", "dec %rdi", f"jne {name}_out", "ret"]
        lines += [f".size {name}, . - {name}", "int3", "int3"]
    quoted = banner.replace("\n", "\\n")
    return "\n".join([*lines, ".section .rodata", f'.asciz "{quoted}"', ""])


def build(folder: Path, functions: Sequence[Function], banner: str = "") -> Path:
    """Write vmlinux to `folder`, with symbols and source lines, and return its path."""
    source, made = folder / "code.S", folder / "code.o"
    source.write_text(assembly(functions, banner))
    subprocess.run(["gcc", "-g", "-c", "-o", made, source], check=True, timeout=60)
    places = [f"--section-start=code_{one.name}={LINKED + one.at:#x}" for one in functions]
    places.append(f"--section-start=.rodata={LINKED + (96 << 20):#x}")
    out = folder / "vmlinux"
    command = ["ld", "-e", "_stext", f"-Ttext={LINKED:#x}", *places, "-o", str(out), str(made)]
    subprocess.run(command, check=True, timeout=60)
    return out


def strip(image: Path) -> Path:
    """Write a copy without symbols and source lines, and return its path."""
    out = image.with_name("stripped")
    subprocess.run(["objcopy", "-S", image, out], check=True, timeout=60)
    return out


def packed(image: bytes, payload: bytes | None = None) -> bytes:
    """Return a bzImage whose compressed kernel is `payload`, by default `image` by gzip."""
    compressed = gzip.compress(image) if payload is None else payload
    head = bytearray(1024)
    head[0x1F1] = 1  # sectors of the set-up code
    head[0x202:0x208] = b"HdrS" + struct.pack("<H", 0x20F)
    head[0x248:0x250] = struct.pack("<II", 0, len(compressed))
    return bytes(head) + compressed
