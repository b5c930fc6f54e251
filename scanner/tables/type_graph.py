# SPDX-License-Identifier: MIT
"""The types of a whole tree: which types contain which, and the type of a path (skb.dev.name)."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

from scanner.facts import FileFacts, Macro, Member, TypeRef
from scanner.source.architectures import architecture, order
from scanner.source.include_search import Includes
from scanner.source.macro_table import MEMBER_PATH

_NAME_MACRO = re.compile(r"(?:const\s+|volatile\s+)*([A-Za-z_]\w*)\s*(\**)")
_TYPE_MACRO = re.compile(r"(?:const\s+|volatile\s+)*((?:struct|union)\s+\w+)\s*(\**)")
_BYTES_TEXT = "char u8 __u8 uint8_t __be32 __be16 u16 u32 __u16 __u32 int long "
_BYTES = frozenset(_BYTES_TEXT.split())
BASIC_STRUCTS = ("struct ", "union ")
DEEPEST = 8  # most macros that are expanded in a path; ends a macro that names itself


class Place(NamedTuple):
    """The file and line of a type's definition."""

    file: str
    line: int


class Part(NamedTuple):
    """A type that contains or names another type; it is listed under that other type.

    `whole` is the key of the type that contains or names the other type. `how` is "pointer",
    "embedded" (`member` contains the other type), "function" (`member` points to a function with
    the other type), "typedef" or "alias".
    """

    whole: str
    how: str
    member: str


class Types:
    """The types of a tree, by base.

    If several structs have the same tag T, each of them has the base "struct T@file". In a file, a
    tag that several structs have means the file's own struct, or the struct in the header that the
    file's includes reach first.
    """

    def __init__(self, files: list[FileFacts], seed: str = "") -> None:
        """Collect the types of `files`; all definitions of the base `seed` count as one type."""
        self.includes = Includes(files)
        found = [(base, _joined(homes, self.includes)) for base, homes in _clashing(files)]
        self._homes = {base: homes for base, homes in found if base != seed and any(homes.values())}
        self._meant: dict[tuple[str, str], str] = {}
        self.places: dict[str, Place] = {}
        self.members: dict[str, dict[str, TypeRef]] = {}
        self.named: dict[str, TypeRef] = {}
        self.aliases: dict[str, Macro] = {}
        self.parts: dict[str, list[Part]] = {}
        self.stand_ins: dict[str, list[list[str]]] = {}  # macro -> members it stands for
        self.signatures: dict[str, tuple[TypeRef, ...]] = {}
        self.function_members: list[tuple[str, str, str]] = []
        self._objects: dict[str, bool] = {}
        for facts in files:
            self._add(facts)
        plain = [(f.path, m) for f in files for m in f.macros if m.params is None]
        self._chains(plain)
        for _, macro in plain:
            if MEMBER_PATH.fullmatch(macro.body):
                fields = [field.strip() for field in macro.body.replace("->", ".").split(".")]
                known = self.stand_ins.setdefault(macro.name, [])
                if fields not in known:
                    known.append(fields)

    def base(self, base: str, file: str) -> str:
        """Return the key of the type that the name `base` means in `file`."""
        homes = self._homes.get(base)
        if homes is None:
            return base
        meant = self._meant.get((base, file))
        if meant is None:
            home = homes.get(file) or homes.get(self._header(homes, file), "")
            meant = self._meant[base, file] = f"{base}@{home}" if home else base
        return meant

    def _header(self, homes: dict[str, str], file: str) -> str:
        headers = [path for path in homes if path.endswith(".h")]
        nearest = self.includes.nearest(file, headers) if len(headers) > 1 else "".join(headers)
        return nearest or min(
            headers, key=lambda p: (order(architecture(p)), len(p), p), default=""
        )

    def seen_from(self, kind: TypeRef, file: str) -> TypeRef:
        """Return the type `kind`, but with the base that its own base means in `file`."""
        base = self.base(kind.base, file)
        return kind if base == kind.base else TypeRef(base, kind.stars, kind.function)

    def _add(self, facts: FileFacts) -> None:
        for record in facts.records:
            whole = self.base(record.base, facts.path)
            self.places.setdefault(whole, Place(facts.path, record.line))
            known = self.members.setdefault(whole, {})
            for member in record.members:
                known[member.name] = kind = self.seen_from(member.type, facts.path)
                inner = kind.base
                if kind.function:
                    for part in member.signature:
                        self.function_members.append((whole, member.name, part.base))
                elif inner:
                    how = "pointer" if kind.stars else "embedded"
                    self.parts.setdefault(inner, []).append(Part(whole, how, member.name))
        for typedef in facts.typedefs:
            self.places.setdefault(typedef.name, Place(facts.path, typedef.line))
            if typedef.signature:
                self.signatures[typedef.name] = typedef.signature
                continue
            kind = self.seen_from(typedef.type, facts.path)
            inner = kind.base
            if inner and inner != typedef.name:
                self.named[typedef.name] = kind
                self.parts.setdefault(inner, []).append(Part(typedef.name, "typedef", ""))
        for macro in facts.macros:
            match = _TYPE_MACRO.fullmatch(macro.body) if macro.params is None else None
            if match:
                inner = " ".join(match[1].split())
                self.places.setdefault(macro.name, Place(facts.path, macro.line))
                self.named[macro.name] = TypeRef(inner, len(match[2]))
                self.aliases[macro.name] = macro
                self.parts.setdefault(inner, []).append(Part(macro.name, "alias", ""))

    def _chains(self, macros: list[tuple[str, Macro]]) -> None:
        """Add macros that are another name for a typedef, or for another macro of this kind."""
        named = [(p, m, match) for p, m in macros if (match := _NAME_MACRO.fullmatch(m.body))]
        found = True
        while found:
            found = False
            for path, macro, match in named:
                if match[1] in self.named and macro.name not in self.named:
                    self.places.setdefault(macro.name, Place(path, macro.line))
                    self.named[macro.name] = TypeRef(match[1], len(match[2]))
                    self.aliases[macro.name] = macro
                    self.parts.setdefault(match[1], []).append(Part(macro.name, "alias", ""))
                    found = True

    def strip(self, kind: TypeRef) -> TypeRef:
        """Return the type that `kind` is a name for, behind all typedefs and macros."""
        if kind.base not in self.named:
            return kind
        for _ in range(20):
            inner = self.named.get(kind.base)
            if inner is None:
                return kind
            kind = TypeRef(inner.base, kind.stars + inner.stars, kind.function or inner.function)
        return kind

    def member(self, kind: TypeRef, path: str) -> TypeRef | None:
        """Return the type of the member `path` in the type `kind`; None if it is unknown.

        If the struct has no such field, the name may be a macro such as sk_prot of
        include/net/sock.h.
        """
        fields = path.split(".")
        macros = 0
        while fields:
            known = self.members.get(self.strip(kind).base)
            if known is None:
                return None
            # The members of an inner struct without a tag are named "inner.member".
            joined = (".".join(fields[:count]) for count in range(1, len(fields) + 1))
            name = next((name for name in joined if name in known), None)
            if name is not None:
                kind = known[name]
                fields = fields[name.count(".") + 1 :]
                continue
            meant = self._stand_in(known, fields[0]) if macros < DEEPEST else None
            if meant is None:
                return None
            macros += 1
            fields = meant + fields[1:]
        return kind

    def _stand_in(self, known: dict[str, TypeRef], name: str) -> list[str] | None:
        """Return the fields that the macro `name` means, preferably fields that are `known`."""
        meant = self.stand_ins.get(name, [])
        for fields in meant:
            if any(".".join(fields[: n + 1]) in known for n in range(len(fields))):
                return fields
        return next((fields for fields in meant if fields[0] in self.stand_ins), None)

    def scalar(self, kind: TypeRef) -> bool:
        """Return whether a value of this type cannot refer to a packet."""
        plain = self.strip(kind)
        if plain.stars or plain.function or not plain.base:
            return False
        return not plain.base.startswith(BASIC_STRUCTS) and plain.base not in self.members

    def is_object(self, kind: TypeRef) -> bool:
        """Return whether the type is a struct that refers to other objects.

        The struct of a protocol header refers to no other object.
        """
        base = self.strip(kind).base
        known = self._objects.get(base)
        if known is None:
            self._objects[base] = False  # a struct that contains itself: its other members decide
            known = any(
                (m.stars and m.base not in _BYTES) or m.function or self.is_object(m)
                for m in self.members.get(base, {}).values()
                if m.base != base
            )
            self._objects[base] = known
        return known


def struct_named(files: list[FileFacts], text: str) -> str:
    """Return the base that `text` means: "struct T", T, or a typedef of the struct."""
    if " " in text:
        return text
    named = {t.name: t.type.base for f in files for t in f.typedefs if not t.signature}
    base = text
    for _ in range(20):
        if " " in base or base not in named:
            break
        base = named[base] or base
        if base == text:
            return text  # of a struct without a tag
    if " " in base:
        return base
    tags = {record.base for facts in files for record in facts.records}
    return (
        base if base in tags else f"union {base}" if f"union {base}" in tags else f"struct {base}"
    )


def _clashing(files: list[FileFacts]) -> Iterator[tuple[str, dict[str, str]]]:
    """Yield each type that several files define, and which file's definition each file uses.

    A type is a struct or union. Headers whose structs have equal members all use the first header's
    definition.
    """
    where: dict[str, dict[str, set[Member]]] = {}
    for facts in files:
        for record in facts.records:
            where.setdefault(record.base, {}).setdefault(facts.path, set()).update(record.members)
    for base, found in where.items():
        headers: dict[frozenset[Member], str] = {}
        if len(found) > 1:
            yield (
                base,
                {
                    path: headers.setdefault(frozenset(members), path)
                    if path.endswith(".h")
                    else path
                    for path, members in found.items()
                },
            )


def _joined(homes: dict[str, str], includes: Includes) -> dict[str, str]:
    """Return which definition of the type `base` each file uses; "" for headers if all share one.

    If a file includes two of the headers, their definitions count as one struct for two
    configurations.
    """
    headers = [path for path in homes if path.endswith(".h")]
    joined = dict(homes)
    for path in headers:
        users = (path, *includes.users(path))
        for other in headers:
            one, two = joined[path], joined[other]
            if one != two and any(includes.reaches(user, other) for user in users):
                joined = {p: one if home == two else home for p, home in joined.items()}
    if len({joined[path] for path in headers}) == 1:
        joined |= dict.fromkeys(headers, "")
    return joined


def macros_naming(files: list[FileFacts], base: str) -> Iterator[tuple[FileFacts, Macro]]:
    """Yield (file, macro) of each macro whose text names the struct `base`."""
    word = base.partition(" ")[0]
    pattern = re.compile(rf"\b{base.replace(' ', chr(92) + 's+')}\b")
    for facts in files:
        for macro in facts.macros:
            if word in macro.body and pattern.search(macro.body):
                yield facts, macro
