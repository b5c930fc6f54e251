# SPDX-License-Identifier: MIT
"""The fallback: read the facts of a function from tree-sitter's nodes, which may contain errors.

Used where pycparser cannot read a definition, and for the bodies of function-like macros.
"""

from __future__ import annotations

from tree_sitter import Node

from scanner.facts import Assign, Call, Member, Param, TypeRef, stars_of

Atoms = tuple[str, ...]
_COMPARISONS = frozenset(("==", "!=", "<", ">", "<=", ">=", "&&"))
_TYPES = (
    "struct_specifier",
    "union_specifier",
    "type_identifier",
    "primitive_type",
    "sized_type_specifier",
    "enum_specifier",
)
DEPTH = 300  # deepest nesting of expressions that is followed


def _text(node: Node) -> str:
    return (node.text or b"").decode("latin-1")


def base_type(node: Node | None) -> str:
    """Return the type that `node` names, without stars, such as "struct sk_buff" or "u32".

    Returns "" for a type without a name.
    """
    if node is None:
        return ""
    if node.type in ("struct_specifier", "union_specifier", "enum_specifier"):
        name = node.child_by_field_name("name")
        return f"{node.type.partition('_')[0]} {_text(name)}" if name else ""
    return " ".join(_text(node).split())


def declarator_parts(node: Node | None) -> tuple[str, int, bool]:
    """Return a declarator's name, its number of stars, and whether it declares a function."""
    layers: list[bool] = []  # the innermost first
    function = False
    while node is not None and node.type not in (
        "identifier",
        "field_identifier",
        "type_identifier",
    ):
        kind = node.type.removeprefix("abstract_")
        if kind in ("pointer_declarator", "array_declarator"):
            layers.append(kind == "pointer_declarator")
        function = function or "function_declarator" in node.type
        inner = node.child_by_field_name("declarator")
        if inner is None:
            inner = next(
                (
                    c
                    for c in node.named_children
                    if "declarator" in c.type or c.type == "identifier"
                ),
                None,
            )
        node = inner
    return (_text(node) if node is not None else "", stars_of(reversed(layers)), function)


def parameters(function: Node) -> tuple[tuple[Param, ...], bool]:
    """Return the parameters of a definition by tree-sitter, and whether an ellipsis follows."""
    node = function.child_by_field_name("declarator")
    while node is not None and node.type != "function_declarator":
        node = node.child_by_field_name("declarator")
    found = []
    variadic = False
    listed = node.child_by_field_name("parameters") if node is not None else None
    for child in listed.named_children if listed is not None else ():
        if child.type == "parameter_declaration":
            name, stars, is_function = declarator_parts(child.child_by_field_name("declarator"))
            base = base_type(child.child_by_field_name("type"))
            if (base, stars, is_function) != ("void", 0, False):
                found.append(Param(name, TypeRef(base, stars, is_function)))
        variadic = variadic or child.type == "variadic_parameter"
    return tuple(found), variadic


def parameter_names(function: Node) -> frozenset[str]:
    """Return the words in the parentheses of a K&R definition."""
    node = function.child_by_field_name("declarator")
    while node is not None and node.type != "function_declarator":
        node = node.child_by_field_name("declarator")
    listed = node.child_by_field_name("parameters") if node is not None else None
    return frozenset(_text(c) for c in listed.named_children) if listed is not None else frozenset()


def result(function: Node) -> TypeRef:
    """Return the result type of a function definition, as tree-sitter recognises it."""
    stars = 0
    node = function.child_by_field_name("declarator")
    while node is not None and node.type == "pointer_declarator":
        stars += 1
        node = node.child_by_field_name("declarator")
    return TypeRef(base_type(function.child_by_field_name("type")), stars)


def members(record: Node) -> tuple[Member, ...]:
    """Return the members of a struct that tree-sitter recognises."""
    found: list[Member] = []
    stack = [record.child_by_field_name("body")]
    while stack:
        node = stack.pop()
        for child in node.named_children if node is not None else ():
            if child.type != "field_declaration":
                continue
            kind = child.child_by_field_name("type")
            inner = kind.child_by_field_name("body") if kind is not None else None
            if inner is not None and kind is not None and not kind.child_by_field_name("name"):
                stack.append(inner)
            for declarator in child.children_by_field_name("declarator"):
                name, stars, function = declarator_parts(declarator)
                found.append(Member(name, TypeRef(base_type(kind), stars, function)))
    return tuple(found)


class LooseBody:
    """The facts of one body: its calls, assignments and variables.

    `shift` is added to tree-sitter's rows to get line numbers.
    """

    def __init__(self, shift: int) -> None:
        self.shift = shift
        self.calls: list[Call] = []
        self.assigns: list[Assign] = []
        self.variables: list[Param] = []

    def read(self, root: Node) -> None:
        """Collect the facts of all statements under the node `root`."""
        stack = [root]
        while stack:
            node = stack.pop()
            kind = node.type
            if kind == "declaration":
                self._declaration(node)
            elif kind == "return_statement":
                values = [self._atoms(c, "return", 0) for c in node.named_children]
                self.assigns.append(Assign("return", tuple(a for v in values for a in v)))
            elif kind == "call_expression":
                self._call(
                    node,
                    "" if (node.parent and node.parent.type == "expression_statement") else "=",
                    0,
                )
            elif kind in (
                "assignment_expression",
                "comma_expression",
                "binary_expression",
                "conditional_expression",
                "update_expression",
                "unary_expression",
            ):
                self._atoms(node, "=", 0)
            else:
                stack += reversed(node.named_children)

    def _declaration(self, node: Node) -> None:
        base = base_type(node.child_by_field_name("type"))
        for child in node.children_by_field_name("declarator"):
            name, stars, function = declarator_parts(child)
            self.variables.append(Param(name, TypeRef(base, stars, function)))
            if child.type == "init_declarator" and (value := child.child_by_field_name("value")):
                atoms = self._atoms(value, name, 0)
                if atoms:
                    self.assigns.append(Assign(name, atoms))

    def _call(self, node: Node, result: str, depth: int) -> Atoms:
        target = node.child_by_field_name("function")
        while target is not None and target.type in (
            "parenthesized_expression",
            "pointer_expression",
            "cast_expression",
        ):
            target = target.named_children[-1] if target.named_children else None
        pointer = ""
        if target is None:
            return ()
        if target.type == "identifier":
            how, callee = "name", _text(target)
        elif target.type == "field_expression":
            field = target.child_by_field_name("field")
            how, callee = "field", _text(field) if field else ""
            pointer = self._path(target.child_by_field_name("argument"), depth + 1)
        else:
            how, callee = "pointer", self._path(target, depth + 1)
        index = len(self.calls)
        line = node.start_point.row + self.shift
        self.calls.append(Call(callee, how, (), line, result, pointer))
        listed = node.child_by_field_name("arguments")
        arguments = tuple(
            self._atoms(child, "=", depth + 1)
            for child in (listed.named_children if listed is not None else ())
        )
        self.calls[index] = Call(callee, how, arguments, line, result, pointer)
        return (f"@{index}",)

    def _path(self, node: Node | None, depth: int) -> str:
        if node is None or depth > DEPTH:
            return ""
        if node.type in ("identifier", "type_identifier"):
            return _text(node)
        if node.type == "field_expression":
            base = self._path(node.child_by_field_name("argument"), depth + 1)
            field = node.child_by_field_name("field")
            return f"{base}.{_text(field)}" if base and field is not None else ""
        if node.type in ("subscript_expression", "pointer_expression"):
            return self._path(node.child_by_field_name("argument"), depth + 1)
        if node.type in ("parenthesized_expression", "update_expression"):
            return self._path(node.named_children[0] if node.named_children else None, depth + 1)
        if node.type == "cast_expression":
            kind = self._cast_type(node)
            inner = self._path(node.child_by_field_name("value"), depth + 1)
            return f"({kind}" if kind else inner
        if node.type == "call_expression":
            return "".join(self._call(node, "=", depth + 1))
        self._atoms(node, "=", depth + 1)
        return ""

    def _cast_type(self, node: Node) -> str:
        described = node.child_by_field_name("type")
        kind = base_type(described.child_by_field_name("type")) if described is not None else ""
        return kind if kind.startswith(("struct ", "union ")) else ""

    def _atoms(self, node: Node, result: str, depth: int) -> Atoms:
        if depth > DEPTH:
            return ()
        kind = node.type
        if kind == "identifier":
            return (_text(node),)
        if kind == "type_descriptor" or kind in _TYPES:
            inner = node.child_by_field_name("type") if kind == "type_descriptor" else node
            return (base_type(inner).replace(" ", "_"),)
        if kind in ("field_expression", "subscript_expression"):
            path = self._path(node, depth)
            return (path,) if path else ()
        if kind == "call_expression":
            return self._call(node, result, depth)
        if kind == "sizeof_expression":
            return ()
        if kind == "assignment_expression":
            return self._assignment(node, depth)
        parts: Atoms = ()
        for child in node.named_children:
            parts += self._atoms(child, "=", depth + 1)
        if kind == "cast_expression" and (cast := self._cast_type(node)):
            parts += (f"({cast}",)
        operator = node.child_by_field_name("operator")
        return () if operator is not None and _text(operator) in _COMPARISONS else parts

    def _assignment(self, node: Node, depth: int) -> Atoms:
        left, right = node.child_by_field_name("left"), node.child_by_field_name("right")
        target = self._path(left, depth + 1)
        atoms = self._atoms(right, target or "=", depth + 1) if right is not None else ()
        if target and atoms:
            self.assigns.append(Assign(target, atoms))
        return (target,) if target else atoms
