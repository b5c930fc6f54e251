# SPDX-License-Identifier: MIT
"""Rewrites the imports of one file for modules that moved, and the names that they bind."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import NamedTuple

import libcst as cst
from libcst import helpers, metadata


class Move(NamedTuple):
    """What imports need: all files, and the file's package before and after the move."""

    modules: Mapping[str, str]  # old to new
    bound: Collection[str]  # "package.name" where the package itself binds the name: no modules
    package: tuple[str, ...]
    new_package: tuple[str, ...]


class _Target(NamedTuple):
    """Where an imported name is defined now, and its name there."""

    module: str
    name: str


def rewrite(source: str, move: Move) -> str:
    """Return the text of a file with its imports as they must be now."""
    tree = cst.parse_module(source)
    finder = _Renamed(move)
    tree.visit(finder)
    if not finder.changed:
        return source
    if not finder.names:
        return tree.visit(_Rewriter(move, {}, ())).code
    wrapper = metadata.MetadataWrapper(tree)
    taken = _names(wrapper.module)
    names = {old: new for old, new in finder.names.items() if new not in taken}
    return wrapper.module.visit(_Rewriter(move, names, _uses(wrapper, names))).code


def _absolute(node: cst.ImportFrom, package: tuple[str, ...]) -> str:
    said = helpers.get_full_name_for_node(node.module) if node.module else None
    level = len(node.relative)
    parts = package[: len(package) - level + 1] if level else ()
    return ".".join([*parts, *([said] if said else [])])


def _targets(node: cst.ImportFrom, move: Move) -> list[tuple[cst.ImportAlias, _Target]] | None:
    """Return where each imported name comes from now; None for `import *`."""
    if isinstance(node.names, cst.ImportStar):
        return None
    module, found = _absolute(node, move.package), []
    for alias in node.names:
        assert isinstance(alias.name, cst.Name)
        name = alias.name.value
        whole = f"{module}.{name}"
        if whole not in move.bound and (moved := move.modules.get(whole)):
            parent, _, base = moved.rpartition(".")
            found.append((alias, _Target(parent, base)))
        else:
            found.append((alias, _Target(move.modules.get(module, module), name)))
    return found


class _Renamed(cst.CSTVisitor):
    """Finds whether anything changes, and modules that are used by a name that changes."""

    def __init__(self, move: Move) -> None:
        self._move, self.names, self.changed = move, dict[str, str](), False

    def visit_ImportFrom(self, node: cst.ImportFrom) -> None:
        targets = _targets(node, self._move)
        module = _absolute(node, self._move.package)
        self.changed |= bool(node.relative) and self._move.package != self._move.new_package
        for alias, target in targets or ():
            assert isinstance(alias.name, cst.Name)
            self.changed |= target != (module, alias.name.value)
            if alias.asname is None and target.name != alias.name.value:
                self.names[alias.name.value] = target.name


def _names(tree: cst.Module) -> set[str]:
    class All(cst.CSTVisitor):
        def __init__(self) -> None:
            self.found = set[str]()

        def visit_Name(self, node: cst.Name) -> None:
            self.found.add(node.value)

    names = All()
    tree.visit(names)
    return names.found


def _uses(wrapper: metadata.MetadataWrapper, names: Collection[str]) -> set[cst.CSTNode]:
    """Return the nodes by which a file uses imported modules of these names."""
    found = set[cst.CSTNode]()
    for scope in set(wrapper.resolve(metadata.ScopeProvider).values()):
        for assignment in scope.assignments if scope else ():
            node = getattr(assignment, "node", None)
            if assignment.name in names and isinstance(node, cst.ImportFrom):
                found.update(access.node for access in assignment.references)
    return found


class _Rewriter(cst.CSTTransformer):
    def __init__(self, move: Move, names: Mapping[str, str], uses: Collection[cst.CSTNode]) -> None:
        self._move, self._names, self._uses = move, names, uses

    def leave_Name(self, original_node: cst.Name, updated_node: cst.Name) -> cst.Name:
        if original_node in self._uses:
            return updated_node.with_changes(value=self._names[original_node.value])
        return updated_node

    def leave_Assign(self, original_node: cst.Assign, updated_node: cst.Assign) -> cst.Assign:
        target = original_node.targets[0].target
        if not (isinstance(target, cst.Name) and target.value == "__all__"):
            return updated_node
        code = cst.Module([]).code_for_node(updated_node.value)
        for old, new in self._names.items():
            code = code.replace(f'"{old}"', f'"{new}"')
        return updated_node.with_changes(value=cst.parse_expression(code))

    def leave_SimpleStatementLine(
        self, original_node: cst.SimpleStatementLine, updated_node: cst.SimpleStatementLine
    ) -> cst.BaseStatement | cst.FlattenSentinel[cst.BaseStatement]:
        node = original_node.body[0]
        if len(original_node.body) > 1 or not isinstance(node, cst.ImportFrom):
            return updated_node
        made = self._imports(node)
        first = updated_node.with_changes(body=[made[0]])
        rest = [cst.SimpleStatementLine([other]) for other in made[1:]]
        return cst.FlattenSentinel([first, *rest]) if rest else first

    def _imports(self, node: cst.ImportFrom) -> list[cst.ImportFrom]:
        targets = _targets(node, self._move)
        if targets is None:
            return [node]
        by_module: dict[str, list[cst.ImportAlias]] = {}
        for alias, target in targets:
            by_module.setdefault(target.module, []).append(self._alias(alias, target.name))
        made = []
        for module, aliases in by_module.items():
            names = aliases
            if len(by_module) > 1:
                names = [alias.with_changes(comma=cst.MaybeSentinel.DEFAULT) for alias in aliases]
            made.append(self._from(node, module, names))
        return made

    def _alias(self, alias: cst.ImportAlias, name: str) -> cst.ImportAlias:
        assert isinstance(alias.name, cst.Name)
        old = alias.name.value
        if old == name:
            return alias
        if alias.asname and alias.evaluated_alias == name:
            return alias.with_changes(name=cst.Name(name), asname=None)
        renamed = alias.with_changes(name=cst.Name(name))
        if alias.asname is None and old not in self._names:
            return renamed.with_changes(asname=cst.AsName(cst.Name(old)))
        return renamed

    def _from(
        self, node: cst.ImportFrom, module: str, names: list[cst.ImportAlias]
    ) -> cst.ImportFrom:
        parts, package = tuple(module.split(".")), self._move.new_package
        level = 0
        if node.relative:
            shared = next(
                (n for n, (a, b) in enumerate(zip(parts, package, strict=False)) if a != b),
                min(len(parts), len(package)),
            )
            level, parts = len(package) - shared + 1, parts[shared:]
        said = cst.parse_expression(".".join(parts)) if parts else None
        assert said is None or isinstance(said, cst.Name | cst.Attribute)
        return node.with_changes(relative=[cst.Dot()] * level, module=said, names=names)


def bound_in(package: str, source: str) -> set[str]:
    """Return "package.name" for what an __init__.py takes from its modules by `from .x import`."""
    found = set[str]()
    for line in cst.parse_module(source).body:
        for node in line.body if isinstance(line, cst.SimpleStatementLine) else ():
            if (
                isinstance(node, cst.ImportFrom)
                and node.module
                and not isinstance(node.names, cst.ImportStar)
            ):
                found |= {
                    f"{package}.{alias.evaluated_alias or alias.evaluated_name}"
                    for alias in node.names
                }
    return found
