# SPDX-License-Identifier: MIT
"""Every file states its licence, and it is the right one."""

from __future__ import annotations

import re

import pytest

from .tree import ROOT, project_files

TAG = re.compile(r"SPDX-License-Identifier\W+(\w[\w.() -]*?)\s*(?:-->|\*/|\"|$)", re.MULTILINE)
DUAL = "GPL-2.0-only OR MIT"
# Licence texts and data in formats that have no comments.
WITHOUT = re.compile(r"LICENSES/.*|.*\.(kbl|pcap|pcapng|png|ico|retis|gz|xz|jsonl|ttf)")
KERNEL = re.compile(r"kmod/.*|scanner/runtime/.*|tests/(lab/kbltest|truth/witness)/.*\.[ch]")
# What in kmod/ runs in user space, or only describes how to build the module.
USER_SPACE = re.compile(
    r"kmod/(\..*|kblrecord.*|rec[._].*|.*\.py|.*\.md|Makefile|Kbuild|dkms\.conf|.*\.txt|.*\.list)"
)


def licence(name: str) -> str:
    """The licence a file must have, by its path."""
    if name in ("kmod/kbl.h", "kmod/kbl_map.h"):
        return DUAL
    if KERNEL.fullmatch(name) and not USER_SPACE.fullmatch(name):
        return "GPL-2.0-only"
    return "MIT"


def test_every_file_has_its_licence() -> None:
    wrong = {}
    for name in project_files():
        if WITHOUT.fullmatch(name):
            continue
        head = (ROOT / name).read_text()[:600]
        found = TAG.search(head)
        stated = found.group(1) if found else "none"
        if stated != licence(name):
            wrong[name] = f"{stated}, not {licence(name)}"
    assert not wrong


@pytest.mark.parametrize(
    ("name", "first_words"),
    [
        ("MIT", "MIT License"),
        ("GPL-2.0-only", "GNU GENERAL PUBLIC LICENSE Version 2, June 1991"),
        ("Bitstream-Vera", "Copyright (c) 2003 by Bitstream, Inc."),  # resources/fonts
    ],
)
def test_licence_texts_are_there(name: str, first_words: str) -> None:
    text = (ROOT / "LICENSES" / f"{name}.txt").read_text()
    assert " ".join(text.split()).startswith(first_words)
