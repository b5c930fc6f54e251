# SPDX-License-Identifier: MIT
"""Find the macro that a name means in a file: its own, or one of a header that it includes."""

from __future__ import annotations

from scanner.facts import FileFacts, Function
from scanner.source.architectures import architecture
from scanner.source.include_search import Includes


class Visible:
    """The function-like macros of a tree, as each file sees them.

    A file does not see macros of another .c file. Of the macros in folders of architectures, a file
    sees only those of its own architecture and of the architecture that represents all.
    """

    def __init__(self, files: list[FileFacts], includes: Includes, main: str) -> None:
        self._includes = includes
        self._main = main
        self._defined: dict[str, dict[str, list[Function]]] = {}
        for facts in files:
            for macro in facts.expanded:
                here = self._defined.setdefault(macro.name, {})
                here.setdefault(facts.path, []).append(macro)
        self._mixed = {name for name, found in self._defined.items() if not self._same(found)}
        self._found: dict[tuple[str, str], list[Function]] = {}

    def _same(self, found: dict[str, list[Function]]) -> bool:
        """Return whether a macro's name means the same macro in all files."""
        path = next(iter(found))
        alone = len(found) == 1 and path.endswith(".h")
        return alone and architecture(path) in ("", self._main)

    def find(self, name: str, file: str) -> list[Function]:
        """Return the definitions that the macro `name` may have in `file`; there may be none."""
        defined = self._defined.get(name)
        if defined is None:
            return []
        if name not in self._mixed:
            return next(iter(defined.values()))
        known = self._found.get((name, file))
        if known is None:
            known = self._found[name, file] = self._nearest(defined, file)
        return known

    def plain(self, names: frozenset[str]) -> bool:
        """Return whether each name either is no macro, or means the same macro in all files."""
        return names.isdisjoint(self._mixed)

    def _nearest(self, defined: dict[str, list[Function]], file: str) -> list[Function]:
        if file in defined:
            return defined[file]
        homes = ("", self._main, architecture(file))
        seen = [p for p in defined if p.endswith(".h") and architecture(p) in homes]
        path = self._includes.nearest(file, seen) if len(seen) > 1 else "".join(seen)
        return defined[path] if path else [macro for p in seen for macro in defined[p]]
