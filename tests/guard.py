# SPDX-License-Identifier: MIT
"""Refuses what a test without the marks lab, net and root must not do.

The guard sees which programs this process starts and which addresses it connects to. Of programs
that are started by others it knows nothing.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import PurePath
from typing import Any

# Programs that install, download, become root, or boot a guest.
PROGRAMS = frozenset(
    ["apt", "apt-get", "apt-cache", "curl", "wget", "pip", "pip3", "su", "sudo", "setpriv"]
    + ["unshare", "mount", "umount", "insmod", "modprobe", "rmmod"]
)
GUESTS = "qemu-system-"
LOCAL = ("127.", "::1", "localhost")


class Refused(AssertionError):
    """A test did what its marks do not permit."""


class Guard:
    """An audit hook: Python cannot remove one, so it is switched on and off."""

    def __init__(self) -> None:
        self.active = False

    def __call__(self, event: str, arguments: tuple[Any, ...]) -> None:
        """Raise Refused for a program or an address that a test must not use."""
        if not self.active:
            return
        if event == "subprocess.Popen":
            self._program(arguments[0], arguments[1])
        elif event == "socket.connect":
            self._address(arguments[1])

    def _program(self, executable: Any, arguments: Any) -> None:
        words = [str(word) for word in ([arguments] if isinstance(arguments, str) else arguments)]
        name = PurePath(str(executable or words[0])).name
        runs_pip = "-m" in words[:-1] and words[words.index("-m") + 1] == "pip"
        if name in PROGRAMS or name.startswith(GUESTS) or runs_pip:
            raise Refused(
                f"{' '.join(words)}: only with the mark lab, net or root (tests/marks.py)"
            )

    def _address(self, address: Any) -> None:
        if isinstance(address, tuple) and not str(address[0]).startswith(LOCAL):
            raise Refused(f"connects to {address}: only with the mark net (tests/marks.py)")


GUARD = Guard()
sys.addaudithook(GUARD)


@contextmanager
def guarded(active: bool) -> Iterator[None]:
    """Refuse these programs and addresses meanwhile, if active."""
    before, GUARD.active = GUARD.active, active
    try:
        yield
    finally:
        GUARD.active = before
