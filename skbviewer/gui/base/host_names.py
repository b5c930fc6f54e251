# SPDX-License-Identifier: MIT
"""Host names of IP addresses; each is looked up once, when it is needed, in another thread."""

from __future__ import annotations

import socket

from PySide6.QtCore import QObject, QRunnable, QThreadPool, QTimer, Signal

THREADS = 8
ANNOUNCE_MS = 200  # names that arrive within this time are reported together


class _Voice(QObject):
    found = Signal(str, str)


class _Lookup(QRunnable):
    def __init__(self, address: str, voice: _Voice) -> None:
        super().__init__()
        self._address = address
        self._voice = voice

    def run(self) -> None:
        try:
            name = socket.getnameinfo((self._address, 0), socket.NI_NAMEREQD)[0]
        except (OSError, UnicodeError):
            name = ""
        self._voice.found.emit(self._address, name)


class HostNames(QObject):
    """Names of addresses. `changed` is emitted when more names are known.

    No name server is queried while `on` is False.
    """

    changed = Signal()

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.on = False
        self._names: dict[str, str] = {}
        self._pool = QThreadPool(self)
        self._pool.setMaxThreadCount(THREADS)
        self._voice = _Voice(self)
        self._voice.found.connect(self._hear)
        self._announce = QTimer(self)
        self._announce.setSingleShot(True)
        self._announce.setInterval(ANNOUNCE_MS)
        self._announce.timeout.connect(self.changed)

    def switch(self, on: bool) -> None:
        """Show names if `on` is True, and addresses otherwise."""
        self.on = on
        self.changed.emit()

    def name(self, address: str) -> str:
        """Return the host name of an IP address; the address itself if no name is known (yet)."""
        if not self.on or not _is_ip(address):
            return address
        if address not in self._names:
            self._names[address] = ""
            self._pool.start(_Lookup(address, self._voice))
        return self._names[address] or address

    def close_tasks(self) -> None:
        """Stop looking up names, and wait until the threads have ended."""
        self._pool.clear()
        self._pool.waitForDone()

    def _hear(self, address: str, name: str) -> None:
        self._names[address] = name
        if name:
            self._announce.start()


def _is_ip(address: str) -> bool:
    for family in (socket.AF_INET, socket.AF_INET6):
        try:
            socket.inet_pton(family, address)
        except OSError:
            continue
        return True
    return False
