# SPDX-License-Identifier: MIT
"""Which tests can read a story: they run twice, because its log has two versions."""

from __future__ import annotations

from functools import cache
from pathlib import Path

import pytest

from tests.marks import TOP, imported

from .story import Story

STORY = "tests.matching.story"
VERSIONS = (2, 3)


def run_for_each_version(metafunc: pytest.Metafunc) -> None:
    """Run a test once for each version of a log if its module, or a fixture's, imports stories.

    A module with a fixture of its own by the name of `version` decides for itself.
    """
    if metafunc._arg2fixturedefs["version"][-1].func.__module__ == metafunc.module.__name__:
        return
    modules = {metafunc.module.__name__}
    for name, fixtures in metafunc._arg2fixturedefs.items():
        modules |= {fixture.func.__module__ for fixture in fixtures} if name != "version" else set()
    if any(STORY in reached(module) for module in modules):
        ids = [f"v{number}" for number in VERSIONS]
        metafunc.parametrize("version", VERSIONS, ids=ids, indirect=True)


def set_version(number: int | None, monkeypatch: pytest.MonkeyPatch) -> None:
    """Let stories be read back from logs of one version.  Without one, reading a story fails."""
    monkeypatch.setattr(Story, "version", property(_refuse) if number is None else number)


def _refuse(story: Story) -> int:
    raise AssertionError(f"this test reads a story, but its module does not import {STORY}")


@cache
def reached(module: str) -> frozenset[str]:
    """Return the modules of the tests that a module imports, and those that these import."""
    found, rest = set[str](), [module]
    while rest:
        name = rest.pop()
        path = _path(name)
        if name in found or path is None:
            continue
        found.add(name)
        rest += [one for one in imported(path) if one.startswith("tests.")]
    return frozenset(found)


def _path(name: str) -> str | None:
    """Return the file of a module; None for a name inside a module."""
    plain = Path(*name.split("."))
    files = (plain.with_suffix(".py"), plain / "__init__.py")
    return next((file.as_posix() for file in files if (TOP / file).is_file()), None)
