# SPDX-License-Identifier: MIT
"""The facts that the scanner finds in a source tree; each fact is a small tuple.

No criterion affects them. All byte positions are offsets into the file on disk, because the
normaliser keeps lengths; line numbers start at 1.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple


class TypeRef(NamedTuple):
    """A declared type: its base without qualifiers, and its number of pointer and array layers.

    `base` is "struct TAG", "union TAG", "enum TAG", a typedef's name or a basic type; "" means an
    unknown type. `stars` is the number of pointer and array layers (stars_of()). If `function` is
    set, the type is a function or a pointer to a function, and `base` is the type that this
    function returns.
    """

    base: str
    stars: int = 0
    function: bool = False


def stars_of(layers: Iterable[bool]) -> int:
    """Return a type's number of stars. `layers`, outermost first, are pointers (True) or arrays.

    An array to which a pointer points adds no star, because the pointer's value is the address of
    the first element.
    """
    stars, pointed = 0, False
    for is_pointer in layers:
        stars += is_pointer or not pointed
        pointed = is_pointer or pointed
    return stars


class Param(NamedTuple):
    """A parameter or variable."""

    name: str
    type: TypeRef


class Call(NamedTuple):
    """A call.  `how` is "name", or "field" for p->callee(...), where `pointer` is the path p.

    `args` has the atoms of each argument. An atom is "x", "x.field.field" (-> and . alike), "@3"
    (the result of call number 3 of the same function), "struct_T" (a type given to a macro) or
    "(struct T" (a cast). `result` is the path to which the call's result is assigned; "return" if
    the result is returned, "=" if it is used otherwise, "" if it is not used.
    """

    callee: str
    how: str
    args: tuple[tuple[str, ...], ...]
    line: int
    result: str
    pointer: str = ""


class Assign(NamedTuple):
    """An assignment to the path `to`; a return statement has "return" as `to`.

    `atoms` are the atoms of the assigned or returned expression (see Call).
    """

    to: str
    atoms: tuple[str, ...]


class Function(NamedTuple):
    """A function definition.

    `start` is the offset of the function's declaration, `body` the offset of its opening brace, and
    `end` the offset after its closing brace. `variant` is the number of the #if variant in which
    the fact was read. `head` is the macro that makes the function's head, or "". `parser` is the
    parser that read the function: "pycparser", "signature" (pycparser read only its head) or
    "tree-sitter". `annotation` is the first word of the function's head that forbids a probe
    (notrace, __init, ...), or NOKPROBE_SYMBOL, or "".
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
    """A member of a struct or union; members of anonymous inner structs count as its own.

    If the member is a pointer to a function, `signature` has the types of the result and of the
    parameters.
    """

    name: str
    type: TypeRef
    signature: tuple[TypeRef, ...] = ()


class Record(NamedTuple):
    """The definition of a struct or union; `base` is its name as in TypeRef."""

    base: str
    line: int
    members: tuple[Member, ...]


class Typedef(NamedTuple):
    """A typedef.

    If the typedef names a function, `signature` has the types of its result and parameters.
    """

    name: str
    line: int
    type: TypeRef
    signature: tuple[TypeRef, ...]


class Macro(NamedTuple):
    """A #define.  `params` is None for an object-like macro, which is used without parentheses.

    `body` is one line, in which comments are blanked.
    """

    name: str
    line: int
    params: tuple[str, ...] | None
    body: str


class Init(NamedTuple):
    """A function that an initialiser assigns: ``.field = function`` in a table of the type `base`.

    If the initialiser does not name the member, `field` is "#" and the member's position. If `base`
    is "", `field` names a variable that is a pointer to functions, or contains such pointers.
    """

    base: str
    field: str
    function: str


class Fallback(NamedTuple):
    """A definition that pycparser could not read.

    `kind` is the part that was not read: "signature", "struct", "typedef", "body", or "function"
    for a whole function.
    """

    kind: str
    name: str
    line: int
    reason: str


class FileFacts(NamedTuple):
    """The facts that were found in one file; `path` is relative to the tree, with slashes."""

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
    islands: tuple[int, int, int, int]  # numbers of signatures, structs, typedefs, bodies
    expanded: tuple[Function, ...] = ()  # function-like macros as pseudo-functions
    includes: tuple[str, ...] = ()  # what its #includes name, in their order
