# SPDX-License-Identifier: MIT
"""Limit the memory of numpy's arrays while a large log is imported; further arrays are in files.

numpy lets a program allocate the data of arrays (NEP 49).  This module puts small arrays and some
large arrays into ordinary memory.  When the large arrays together reach a limit, further arrays are
mapped from files without names, whose pages the kernel can write to the disk and drop.  The limit
therefore also applies to temporary arrays of any stage, and not only to arrays that a stage puts
into a Scratch.
"""

from __future__ import annotations

import _thread
import atexit
import ctypes
import mmap
import os
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryFile
from typing import Any, NamedTuple

import numpy as np

LARGE = 1 << 20  # bytes of the smallest array that is counted
SET_HANDLER = 304  # index in numpy's table of C functions; numpy never changes these
CAPSULE = b"mem_handler"
SIZE, PLACE = ctypes.c_size_t, ctypes.c_void_p
MAP_FAILED = ctypes.c_void_p(-1).value
AGAIN_S = 0.05  # after which an interrupt that came in a callback is repeated


class _Handler(ctypes.Structure):
    """The struct PyDataMem_Handler of numpy's ndarraytypes.h, version 1."""

    _fields_ = (
        ("name", ctypes.c_char * 127),
        ("version", ctypes.c_uint8),
        ("ctx", PLACE),
        ("malloc", ctypes.CFUNCTYPE(PLACE, PLACE, SIZE)),
        ("calloc", ctypes.CFUNCTYPE(PLACE, PLACE, SIZE, SIZE)),
        ("realloc", ctypes.CFUNCTYPE(PLACE, PLACE, PLACE, SIZE)),
        ("free", ctypes.CFUNCTYPE(None, PLACE, PLACE, SIZE)),
    )


class Use(NamedTuple):
    """Bytes of large arrays: in ordinary memory (`plain`, at most `peak` so far), and in files."""

    plain: int
    filed: int
    peak: int


class ArrayMemory:
    """Allocates the data of numpy's arrays. numpy calls the methods malloc() to free()."""

    def __init__(self, libc: Any) -> None:
        self.libc = libc
        self._bounds: list[tuple[Path, int]] = []  # of the contexts that run; the last one counts
        self._plain: dict[int, int] = {}  # size by address
        self._filed: dict[int, int] = {}
        self._use = [0, 0, 0]
        self._counting = threading.RLock()  # one thread may free an array while it allocates one

    @property
    def use(self) -> Use:
        """Return how much memory large arrays take now."""
        return Use(*self._use)

    def begin(self, folder: Path, most: int) -> tuple[Path, int]:
        """Until end(), put large arrays that would exceed `most` bytes together into `folder`."""
        bound = folder, most
        self._bounds.append(bound)
        return bound

    def end(self, bound: tuple[Path, int]) -> None:
        """End the limit of begin(); `bound` is what begin() returned."""
        self._bounds.remove(bound)

    def malloc(self, size: int) -> int | None:
        """Return the address of `size` bytes, or None."""
        if size < LARGE:
            return self.libc.malloc(size)  # type: ignore[no-any-return]
        return self._large(size, lambda: self.libc.malloc(size))

    def calloc(self, count: int, size: int) -> int | None:
        """Return the address of `count` * `size` zeros, or None."""
        if count * size < LARGE:
            return self.libc.calloc(count, size)  # type: ignore[no-any-return]
        return self._large(count * size, lambda: self.libc.calloc(count, size))

    def realloc(self, place: int | None, size: int) -> int | None:
        """Return the address of `size` bytes that begin with the bytes at `place`, or None."""
        before = self._plain.get(place or 0) or self._filed.get(place or 0)
        if before is None and size < LARGE:
            return self.libc.realloc(place, size)  # type: ignore[no-any-return]
        made = self.malloc(size)
        if made and place:
            known = before or self.libc.malloc_usable_size(place)
            ctypes.memmove(made, place, min(known, size))
            self.free(place)
        return made

    def free(self, place: int | None) -> None:
        """Free the memory at an address that malloc(), calloc() or realloc() returned."""
        if (size := self._filed.pop(place or 0, 0)) != 0:
            self._count(0, -size)
            self.libc.munmap(place, size)
            return
        if (size := self._plain.pop(place or 0, 0)) != 0:
            self._count(-size, 0)
        self.libc.free(place)

    def _large(self, size: int, allocate: Callable[[], int | None]) -> int | None:
        """Return the address of `size` bytes: in a file, or the result of `allocate`."""
        if not self._has_room(size):
            if (filed := self._mapped(size)) is not None:
                return filed
            self._count(size, 0)
        place: int | None = None
        try:
            place = allocate()
            if place:
                self._plain[place] = size
        finally:
            if (place or 0) not in self._plain:
                self._count(-size, 0)
        return place

    def _has_room(self, size: int) -> bool:
        """Return whether `size` more bytes fit into ordinary memory; if so, count them.

        Checking and counting are one step, so that two threads cannot take the same bytes.
        """
        with self._counting:
            bounds = self._bounds[-1:]
            room = not bounds or self._use[0] + size <= bounds[0][1]
            if room:
                self._count(size, 0)
            return room

    def _count(self, plain: int, filed: int) -> None:
        with self._counting:
            self._use[0] += plain
            self._use[1] += filed
            self._use[2] = max(self._use[2], self._use[0])

    def _mapped(self, size: int) -> int | None:
        """Return the address of `size` bytes in a new file; None if the disk is full."""
        try:
            folder, _ = self._bounds[-1]  # IndexError: another thread has ended the last one
            with TemporaryFile(dir=folder) as file:
                os.posix_fallocate(file.fileno(), 0, size)
                may = mmap.PROT_READ | mmap.PROT_WRITE
                place = self.libc.mmap(None, size, may, mmap.MAP_SHARED, file.fileno(), 0)
        except (IndexError, OSError):
            return None
        if place == MAP_FAILED:
            return None
        self._filed[place] = size
        self._count(0, size)
        return int(place)


def _libc() -> Any:
    """Return the C library.

    Raises AttributeError or OSError if the library does not have a function.
    """
    libc = ctypes.CDLL(None)
    types: dict[str, tuple[Any, tuple[Any, ...]]] = {
        "malloc": (PLACE, (SIZE,)),
        "calloc": (PLACE, (SIZE, SIZE)),
        "realloc": (PLACE, (PLACE, SIZE)),
        "free": (None, (PLACE,)),
        "malloc_usable_size": (SIZE, (PLACE,)),
        "mmap": (PLACE, (PLACE, SIZE, ctypes.c_int, ctypes.c_int, ctypes.c_int, ctypes.c_long)),
        "munmap": (ctypes.c_int, (PLACE, SIZE)),
    }
    for name, (result, arguments) in types.items():
        function = getattr(libc, name)
        function.restype, function.argtypes = result, arguments
    return libc


def _again(call: Callable[..., int | None]) -> Callable[..., int | None]:
    """Return `call` as a callback, which cannot raise; Ctrl-C during it takes effect afterwards."""

    def called(_: object, *values: int) -> int | None:
        try:
            return call(*values)
        except KeyboardInterrupt:
            threading.Timer(AGAIN_S, _thread.interrupt_main).start()
            return call(*values)

    return called


def _freeing(memory: ArrayMemory) -> Callable[[object, int | None, int], None]:
    def freed(_: object, place: int | None, __: int) -> None:
        try:
            memory.free(place)
        except KeyboardInterrupt:
            threading.Timer(AGAIN_S, _thread.interrupt_main).start()

    return freed


class _Numpy:
    """numpy's function that sets the running thread's handler, and the handler that is set."""

    def __init__(self) -> None:
        self.memory = ArrayMemory(_libc())
        core = getattr(np, "_core", None) or np.core
        api = ctypes.pythonapi
        api.PyCapsule_GetPointer.restype = PLACE
        api.PyCapsule_GetPointer.argtypes = [ctypes.py_object, ctypes.c_char_p]
        api.PyCapsule_New.restype = ctypes.py_object
        api.PyCapsule_New.argtypes = [PLACE, ctypes.c_char_p, PLACE]
        table = api.PyCapsule_GetPointer(core._multiarray_umath._ARRAY_API, None)
        functions = ctypes.cast(table, ctypes.POINTER(PLACE))
        set_ = ctypes.PYFUNCTYPE(ctypes.py_object, ctypes.py_object)
        self.set = set_(functions[SET_HANDLER] or 0)
        memory, types = self.memory, dict(_Handler._fields_)
        made = [_again(call) for call in (memory.malloc, memory.calloc, memory.realloc)]
        calls = zip(("malloc", "calloc", "realloc"), made, strict=True)
        self._callbacks = [types[name](call) for name, call in calls]  # type: ignore[operator]
        self._callbacks.append(types["free"](_freeing(memory)))  # type: ignore[operator]
        self._handler = _Handler(b"skbviewer", 1, None, *self._callbacks)
        self.capsule = api.PyCapsule_New(ctypes.addressof(self._handler), CAPSULE, None)
        nothing = ctypes.cast(self.memory.libc.getppid, PLACE).value or 0  # ignores its arguments
        self._free_nothing = types["free"](nothing)  # type: ignore[operator]
        atexit.register(self._leave)

    def _leave(self) -> None:
        """From now on, free no memory: Python's code cannot run when its last arrays end."""
        self._handler.free = self._free_nothing


_numpy: _Numpy | None = None
_making = threading.Lock()


def _numpys() -> _Numpy | None:
    """Return the handler; None if numpy or the C library lack a function for it.

    The handler is made once and never freed, because arrays may be freed at any later time.
    """
    global _numpy
    with _making:
        if _numpy is None:
            try:
                _numpy = _Numpy()
            except (AttributeError, OSError, ValueError):
                return None
            ctypes.pythonapi.Py_IncRef(ctypes.py_object(_numpy))
        return _numpy


@contextmanager
def bounded_arrays(folder: Path, most: int) -> Iterator[ArrayMemory | None]:
    """Until the context ends, limit the memory of this thread's large arrays to `most` bytes.

    Further large arrays are in files in `folder`.

    Arrays that exist after the context keep their memory.  Yields None if this version of numpy
    does not support such a limit.
    """
    made = _numpys()
    if made is None:
        yield None
        return
    bound, before = made.memory.begin(folder, most), made.set(made.capsule)
    try:
        yield made.memory
    finally:
        made.set(before)
        made.memory.end(bound)
