# SPDX-License-Identifier: MIT
"""Which program made a stored result: a result of another one may differ from this one's."""

from __future__ import annotations

from functools import cache
from hashlib import blake2b

from ...records.resource_files import PACKAGE, resource

CODE = ("analysis", "matching", "records", "session", "store")  # what results depend on
RESOURCES = ("layers.json", "syscalls.json")


@cache
def program() -> str:
    """Return a hash of the code that makes results, and of the tables that it reads."""
    files = [file for name in CODE for file in sorted((PACKAGE / name).rglob("*.py"))]
    digest = blake2b(digest_size=16)
    for file in (*files, *map(resource, RESOURCES)):
        digest.update(file.read_bytes())
    return digest.hexdigest()
