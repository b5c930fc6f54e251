# SPDX-License-Identifier: MIT
"""Find which of several headers a file uses: the header that the file's #includes reach first."""

from __future__ import annotations

from collections import deque
from collections.abc import Collection, Iterator
from functools import lru_cache
from posixpath import dirname, join, normpath

from scanner.facts import FileFacts
from scanner.source.architectures import architecture, order


class Includes:
    """Those #includes of a tree's files that name other files of the tree."""

    def __init__(self, files: list[FileFacts]) -> None:
        self._written = {facts.path: facts.includes for facts in files}
        self._named: dict[str, list[str]] = {}
        for facts in files:
            self._named.setdefault(facts.path.rpartition("/")[2], []).append(facts.path)
        self._included: dict[str, tuple[str, ...]] = {}
        self._users: dict[str, list[str]] = {}
        # Callers process one file after the other.
        self._order = lru_cache(maxsize=64)(self._reached)

    def nearest(self, file: str, among: Collection[str]) -> str:
        """Return `file` if it is among `among`, else the member of `among` that it includes first.

        If `file` includes none of the files, the result is the file in the nearest folder; "" if
        several files are equally near.
        """
        if file in among:
            return file
        steps = self._order(file)
        reached = [path for path in among if path in steps]
        if reached:
            return min(reached, key=steps.__getitem__)
        near = {path: _shared_folders(file, path) for path in among}
        most = max(near.values(), default=0)
        found = [path for path, count in near.items() if count == most]
        return found[0] if len(found) == 1 else ""

    def reaches(self, file: str, other: str) -> bool:
        """Return whether `file` is `other`, or includes `other` directly or indirectly."""
        return other in self._order(file)

    def users(self, path: str) -> list[str]:
        """Return the files that include the file `path` directly."""
        if not self._users:
            for file in self._written:
                for included in self._of(file):
                    self._users.setdefault(included, []).append(file)
        return self._users.get(path, [])

    def _reached(self, file: str) -> dict[str, int]:
        """Return `file` and all files that it includes, with ranks: nearer files have lower ranks.

        `file` has rank 0.  A file is near if a short chain of #includes leads to it; files at equal
        distance are in the order of the #includes.
        """
        steps = {file: 0}
        queue = deque([file])
        while queue:
            for path in self._of(queue.popleft()):
                if path not in steps:
                    steps[path] = len(steps)
                    queue.append(path)
        return steps

    def _of(self, file: str) -> tuple[str, ...]:
        known = self._included.get(file)
        if known is None:
            known = tuple(self._resolved(file))
            self._included[file] = known
        return known

    def _resolved(self, file: str) -> Iterator[str]:
        for name in self._written.get(file, ()):
            beside = normpath(join(dirname(file), name))
            if beside in self._written:
                yield beside
                continue
            plain = normpath(name).removeprefix("../")
            fitting = [
                path
                for path in self._named.get(plain.rpartition("/")[2], ())
                if path == plain or path.endswith(f"/{plain}")
            ]
            if fitting:
                yield min(fitting, key=lambda path: _rank(file, path))


def _rank(file: str, path: str) -> tuple[int, tuple[bool, int, str], int]:
    """Return a header's sort key: the file uses the header with the smallest key."""
    home = order(architecture(path), architecture(file))
    return -_shared_folders(file, path), home, len(path)


def _shared_folders(one: str, other: str) -> int:
    """Return how many folders the paths of two files share, counted from the tree's root."""
    count = 0
    for a, b in zip(one.split("/")[:-1], other.split("/")[:-1], strict=False):
        if a != b:
            break
        count += 1
    return count
