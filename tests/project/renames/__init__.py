# SPDX-License-Identifier: MIT
"""Renames Python identifiers as mapping.toml says: ``python -m tests.project.renames``.

It can be run again, on this tree or a newer one: it changes only what still has an old name.
"""
