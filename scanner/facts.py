# SPDX-License-Identifier: MIT
"""The facts that the scanner finds in a source tree, one small tuple each.

No criterion affects them. All byte positions are offsets into the file on disk (the normaliser
keeps lengths); lines start at 1.
"""

from __future__ import annotations

from typing import NamedTuple


class TypeRef(NamedTuple):
    """A declared type: its base, without qualifiers, and how many pointers and arrays surround it.

    base: "struct TAG", "union TAG", "enum TAG", a typedef name or a basic type; "" if unknown.
    stars: number of pointer and array layers. function: the type is a function or a pointer to one;
    base is then the function's return type.
    """

    base: str
    stars: int = 0
    function: bool = False


class Param(NamedTuple):
    """A parameter or variable."""

    name: str
    type: TypeRef


class Call(NamedTuple):
    """A call.  how: "name", or "field" for p->callee(...).

    args: for each argument its atoms: "x", "x.field.field" (-> and . alike), "@3" (result of call
    number 3 of the same function), "struct_T" (a type given to a macro), "(struct T" (a cast).
    result: the path to which the value is assigned, "=" if it is used otherwise, "return" if it is
    returned, or "" if it is not used.  pointer: for "field" calls, the path before the field.
    """

    callee: str
    how: str
    args: tuple[tuple[str, ...], ...]
    line: int
    result: str
    pointer: str = ""


class Assign(NamedTuple):
    """An assignment ``to = expression of atoms``; to is a path, or "return" for a return."""

    to: str
    atoms: tuple[str, ...]


class Function(NamedTuple):
    """A function definition.

    start: offset of its declaration; body: offset of its opening brace; end: offset after its
    closing brace.  annotation: the first word of its head that forbids a probe (notrace, __init,
    ...), or NOKPROBE_SYMBOL, or "".  head: the macro that makes its head, or "".  parser: which
    parser read it, "pycparser", "signature" (pycparser read only its head) or "tree-sitter".
    """

    name: str
    line: int
    end_line: int
    start: int
    body: int
    end: int
    static: bool
    inline: bool
    variant: int
    head: str
    parser: str
    returns: TypeRef
    params: tuple[Param, ...]
    variables: tuple[Param, ...]
    calls: tuple[Call, ...]
    assigns: tuple[Assign, ...]
    variadic: bool = False
    annotation: str = ""


class Member(NamedTuple):
    """A member of a struct or union; anonymous inner ones are flattened into their parent.

    signature: the types of parameters and result if it is a pointer to a function.
    """

    name: str
    type: TypeRef
    signature: tuple[TypeRef, ...] = ()


class Record(NamedTuple):
    """A struct or union definition; base is as in TypeRef."""

    base: str
    line: int
    members: tuple[Member, ...]


class Typedef(NamedTuple):
    """A typedef; signature: the types of parameters and result if it names a function."""

    name: str
    line: int
    type: TypeRef
    signature: tuple[TypeRef, ...]


class Macro(NamedTuple):
    """A #define; params is None for an object-like one.  body: one line, comments blanked."""

    name: str
    line: int
    params: tuple[str, ...] | None
    body: str


class Init(NamedTuple):
    """A function in an initialiser: ``.field = function`` in a table of type base.

    For a member without a name, field is "#" and its position.  If base is "", field is a variable
    that is a pointer to functions, or contains such pointers.
    """

    base: str
    field: str
    function: str


class Fallback(NamedTuple):
    """An island that pycparser could not read.

    kind: "signature", "struct", "typedef", "body", or "function" for a function that was not read
    at all.
    """

    kind: str
    name: str
    line: int
    reason: str


class FileFacts(NamedTuple):
    """Everything found in one file; path is relative to the tree, with slashes."""

    path: str
    lines: int
    functions: tuple[Function, ...]
    records: tuple[Record, ...]
    typedefs: tuple[Typedef, ...]
    macros: tuple[Macro, ...]
    variables: tuple[Param, ...]
    inits: tuple[Init, ...]
    fallbacks: tuple[Fallback, ...]
    warnings: tuple[str, ...]
    islands: tuple[int, int, int, int]  # signatures, structs, typedefs, bodies tried
    expanded: tuple[Function, ...] = ()  # function-like macros as pseudo-functions
    includes: tuple[str, ...] = ()  # what its #includes name, in their order
