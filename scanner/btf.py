# SPDX-License-Identifier: MIT
"""The types and functions in a kernel's BTF (Documentation/bpf/btf.rst)."""

from __future__ import annotations

import re
import struct
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from scanner.facts import stars_of
from scanner.kernel_image_btf import BadBtf, btf_section

__all__ = ["BadBtf", "Btf", "Function", "Kernel", "Type", "kernel"]
_INT, _PTR, _ARRAY, _STRUCT, _UNION, _ENUM, _FWD, _TYPEDEF = 1, 2, 3, 4, 5, 6, 7, 8
_VOLATILE, _CONST, _RESTRICT, _FUNC, _PROTO, _VAR, _DATASEC = 9, 10, 11, 12, 13, 14, 15
_DECL_TAG, _TYPE_TAG, _ENUM64 = 17, 18, 19
_EACH = {_STRUCT: 12, _UNION: 12, _ENUM: 8, _PROTO: 8, _DATASEC: 12, _ENUM64: 12}
_ONCE = {_INT: 4, _ARRAY: 12, _VAR: 4, _DECL_TAG: 4}
_THROUGH = (_TYPEDEF, _VOLATILE, _CONST, _RESTRICT, _TYPE_TAG)
_VARIANT = re.compile(r"(.+?)\.((?:constprop|isra|part|cold|llvm|lto_priv)\b.*)")
_MODULE = re.compile(r"\.ko(?:\.(?:xz|gz|zst))?$")


class Type(NamedTuple):
    """A type in BTF; `kind` is the number of its kind, BTF_KIND_*.

    `ref` is the type's size, or the number of the type to which it refers.  `parts` has (name,
    number of the type) for each member or parameter.
    """

    kind: int
    name: str
    ref: int
    parts: tuple[tuple[str, int], ...]


class Function(NamedTuple):
    """A function of a kernel or module, as BTF describes the function.

    `parameters` has (name of the struct or basic type, stars, size in bytes) for each parameter;
    `returns` has these values for the result.
    """

    name: str
    module: str
    parameters: tuple[tuple[str, int, int], ...]
    returns: tuple[str, int, int]


class Btf:
    """The types of a kernel or of a module; a module's type numbers continue the kernel's."""

    def __init__(self, data: bytes, path: Path, base: Btf | None = None) -> None:
        self.base = base
        self.strings = b""
        self.first: int = base.first + len(base.types) if base else 0
        self.strings_from: int = base.strings_from + len(base.strings) if base else 0
        self.types: list[Type] = [] if base else [Type(0, "void", 0, ())]
        try:
            self._read(data)
        except (struct.error, IndexError, ValueError) as problem:
            raise BadBtf(f"{path}: damaged BTF: {problem}") from None

    def type(self, number: int) -> Type:
        """Return the type that has this number; a module's type numbers continue the kernel's."""
        if self.base is not None and number < self.first:
            return self.base.type(number)
        return self.types[number - self.first]

    def _name(self, offset: int) -> str:
        if self.base is not None and offset < self.strings_from:
            return self.base._name(offset)
        start = offset - self.strings_from
        if start >= len(self.strings):
            raise ValueError("a name is outside the string section")
        return self.strings[start : self.strings.index(b"\0", start)].decode("latin-1")

    def _read(self, data: bytes) -> None:
        order = "<" if data[:2] == b"\x9f\xeb" else ">"
        length, types, size, strings, string_size = struct.unpack_from(order + "IIIII", data, 4)
        self.strings = data[length + strings : length + strings + string_size]
        position, end = length + types, length + types + size
        if end > len(data):
            raise ValueError("cut short")
        head = struct.Struct(order + "III")
        while position < end:
            name_at, info, ref = head.unpack_from(data, position)
            kind, count = info >> 24 & 0x1F, info & 0xFFFF
            position += 12
            parts: tuple[tuple[str, int], ...] = ()
            if kind in (_STRUCT, _UNION, _PROTO):
                step = _EACH[kind] // 4
                words = struct.unpack_from(f"{order}{count * step}I", data, position)
                parts = tuple(
                    (self._name(words[i]), words[i + 1]) for i in range(0, count * step, step)
                )
            elif kind == _ARRAY:
                ref = struct.unpack_from(order + "I", data, position)[0]
            position += _ONCE.get(kind, 0) + count * _EACH.get(kind, 0)
            self.types.append(Type(kind, self._name(name_at), ref, parts))

    def strip(self, number: int) -> tuple[str, int, int]:
        """Return (name, stars, size) of a type without typedefs and qualifiers.

        The name of a struct or union begins with its keyword: "struct sk_buff". Pointers and arrays
        count as stars (facts.stars_of()). The size is in bytes; 0 if the type has none.
        """
        layers: list[bool] = []
        for _ in range(64):
            kind = self.type(number)
            if kind.kind == _PTR or kind.kind == _ARRAY:
                layers.append(kind.kind == _PTR)
            elif kind.kind not in _THROUGH:
                word = {_STRUCT: "struct ", _UNION: "union ", _PROTO: "function", _FWD: "struct "}
                size = kind.ref if kind.kind in (_INT, _ENUM, _STRUCT, _UNION, _ENUM64) else 0
                return word.get(kind.kind, "") + kind.name, stars_of(layers), size
            number = kind.ref
        raise BadBtf("BTF: types refer to each other in a circle")

    def contents(self) -> Iterator[tuple[str, list[str]]]:
        """Yield (name, others) for each named struct or union of this BTF.

        `others` are the names of the structs and unions that the type contains or points to.
        """
        for kind in self.types:
            if kind.kind in (_STRUCT, _UNION) and kind.name:
                word = "struct" if kind.kind == _STRUCT else "union"
                yield f"{word} {kind.name}", list(self._inner(kind, 0))

    def _inner(self, kind: Type, depth: int) -> Iterator[str]:
        for _, number in kind.parts:
            for _ in range(64):
                member = self.type(number)
                if member.kind not in (*_THROUGH, _PTR, _ARRAY):
                    break
                number = member.ref
            if member.kind in (_STRUCT, _UNION) and not member.name and depth < 30:
                yield from self._inner(member, depth + 1)
            elif member.kind in (_STRUCT, _UNION, _FWD):
                yield f"{'union' if member.kind == _UNION else 'struct'} {member.name}"

    def functions(self, module: str) -> Iterator[Function]:
        """Yield the functions that this BTF defines itself, without functions of its base.

        `module` is the name of the functions' module, "" for vmlinux.
        """
        for kind in self.types:
            if kind.kind == _FUNC:
                proto = self.type(kind.ref)
                yield Function(
                    kind.name,
                    module,
                    tuple(self.strip(t) for _, t in proto.parts),
                    self.strip(proto.ref),
                )


class Kernel(NamedTuple):
    """Facts about a built kernel.

    `functions` are the functions in BTF, by name. `symbols` has the number of text symbols of each
    name; without System.map, it is empty. `variants` are the copies of functions that the compiler
    made, by the name of the original function.
    """

    functions: dict[str, list[Function]]
    symbols: dict[str, int]
    variants: dict[str, list[str]]
    types: list[Btf]


def _modules(folders: list[Path]) -> Iterator[tuple[str, Path]]:
    for folder in folders:
        if not folder.is_dir():
            raise BadBtf(f"{folder}: no such folder")
        for path in sorted(folder.rglob("*")):
            if _MODULE.search(path.name) and path.is_file():
                yield _MODULE.sub("", path.name).replace("-", "_"), path
            elif folder.as_posix().startswith("/sys/kernel/btf") and path.name != "vmlinux":
                yield path.name, path


def kernel(vmlinux: Path, modules: list[Path], system_map: Path | None) -> Kernel:
    """Return the functions, symbols and types in BTF and System.map. Raises BadBtf and OSError."""
    base = Btf(btf_section(vmlinux), vmlinux)
    tables = [("", base)]
    tables += [(name, Btf(btf_section(path), path, base)) for name, path in _modules(modules)]
    functions: dict[str, list[Function]] = {}
    for module, table in tables:
        for function in table.functions(module):
            functions.setdefault(function.name, []).append(function)
    if system_map is None:
        beside = vmlinux.parent / vmlinux.name.replace("vmlinuz", "System.map")
        system_map = beside if beside != vmlinux and beside.is_file() else None
    symbols, variants = read_symbols(system_map) if system_map else ({}, {})
    return Kernel(functions, symbols, variants, [table for _, table in tables])


def read_symbols(path: Path) -> tuple[dict[str, int], dict[str, list[str]]]:
    """Return the number of text symbols of each name, and the compiler's copies by function."""
    counts: dict[str, int] = {}
    variants: dict[str, list[str]] = {}
    for number, line in enumerate(path.read_text("latin-1").splitlines(), 1):
        words = line.split()
        if len(words) < 3:
            raise BadBtf(f"{path}:{number}: not 'address type name'")
        if words[1] not in "tTwW":
            continue
        counts[words[2]] = counts.get(words[2], 0) + 1
        copy = _VARIANT.fullmatch(words[2])
        if copy:
            variants.setdefault(copy[1], []).append(words[2])
    return counts, variants
