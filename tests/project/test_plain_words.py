# SPDX-License-Identifier: MIT
"""Documents and code use plain words: private ones only become fewer.

"Told", "tells" and "telling" hide which verb is meant: record, know, show, report, pass, identify.
A docstring that begins "The same" or "Those of" makes the reader look elsewhere for its subject.
"""

from __future__ import annotations

import re
from collections import Counter
from functools import cache

import pytest

from .tree import ROOT, project_files

# How many each place may have.  Who removes some lowers its ceiling; nobody raises one.
CEILINGS = {
    "README.md": 0,
    "ARCHITECTURE.md": 0,
    "CHANGELOG.md": 0,
    "CONTRIBUTING.md": 0,
    "SECURITY.md": 0,
    "docs/README.md": 0,
    "docs": 0,
    "resources": 0,
    "kmod": 1,
    "scanner": 0,
    "skbviewer": 0,
    "tests": 3,
}

WORDS = r"told|tells|telling|thereof"
PROSE = re.compile(rf"\b(?:{WORDS})\b|^(?:[-*] )?(?:The same,|Those of)\b", re.I | re.M)
# In code also as a part of a name; of comments and docstrings the first words.
CODE = re.compile(rf'{WORDS}|(?:"""|/\*)[\s*]*(?:The same|Those of)\b', re.I)
CODE_FILE = re.compile(r".*\.(?:py|c|h|sh|1)|.*Makefile")
# Sources that the scanner is tried on, and the words themselves.
NOT_OURS = ("tests/scanner/trees/", "tests/project/test_plain_words.py")


@cache
def counted() -> Counter[str]:
    """How many private words each place of CEILINGS has."""
    counts: Counter[str] = Counter()
    for name in project_files():
        folder = name.partition("/")[0]
        if name.endswith(".md") and folder != "tests":
            found = len(PROSE.findall((ROOT / name).read_text()))
            counts.update({name: found} if folder == name else {name: found, folder: found})
        elif CODE_FILE.fullmatch(name) and not name.startswith(NOT_OURS):
            counts[folder] += len(CODE.findall(f"{name}\n{(ROOT / name).read_text()}"))
    return counts


@pytest.mark.parametrize("place", CEILINGS)
def test_private_words_become_fewer(place: str) -> None:
    count, ceiling = counted()[place], CEILINGS[place]
    assert count <= ceiling, f"{place}: {count} private words, {ceiling} are allowed: rewrite"
    assert count == ceiling, f"{place}: only {count} are left: lower its ceiling in this test"
