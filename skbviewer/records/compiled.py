# SPDX-License-Identifier: MIT
"""Loops over millions of rows, compiled to machine code by numba.

`@compiled` is for plain loops that process numpy arrays and numbers row after row, where array
operations would need a temporary array for each step. Neither this module nor the decorator loads
numba; the first call of a compiled function does.
"""

from __future__ import annotations

import gc
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import update_wrapper
from hashlib import sha256
from threading import RLock
from types import CodeType, FunctionType, ModuleType
from typing import Any, Generic, ParamSpec, TypeVar, cast

import numpy as np

P = ParamSpec("P")
R = TypeVar("R")
Int = int | np.integer[Any]  # a number in a compiled function
# Only C programs would need the C wrapper, which takes a fifth of the time to compile.
OPTIONS: dict[str, Any] = {"nogil": True, "error_model": "python", "no_cfunc_wrapper": True}
ALLOCATION_FREE = OPTIONS | {"_nrt": False}
# numba imports this module wherever it is installed, which takes a quarter of numba's own time.
MEASURES = "coverage"
FORMAT = 3  # of the files with machine code, as machine_code.py writes and reads them
HASH_DIGITS = 16  # hex digits that distinguish the versions of a function

_announced = False
_loaded: ModuleType | None = None  # machine_code.py
_loading = RLock()  # two threads may make the first call of a compiled function


class Compiled(Generic[P, R]):
    """A function that is compiled at its first call, once for each set of argument types.

    Always pass the same types. A Python int and an int64 count as one type, an int32 as another. A
    literal that one compiled function passes to another is yet another type: begin counters with
    np.int64(0). The type of an array also depends on whether it is contiguous and whether it is
    writable. The compiler numba knows only a part of Python: arrays (also structured ones),
    numbers, tuples (also NamedTuples), and other compiled functions from any module. The function
    must neither hash (dicts, sets) nor use threads: for these, machine_code.py does not load enough
    of numba. Globals are constants whose values are fixed at compile time. Import globals by name,
    because the version of a function (see digest()) does not depend on the members of a module.

    The machine code is stored in __pycache__ beside the source or, if that is not writable, in the
    user's numba cache folder. If neither folder is writable, each process compiles the function
    again. A process also compiles a function again if its source, a global or a called function has
    changed.

    Raises the function's exceptions, but never IndexError: an index out of bounds reads or
    overwrites other memory. Before the call, therefore, check all indices that come from files.
    Integers wrap around, and a division by zero raises ZeroDivisionError. The GIL is released, so
    that other threads can run at the same time.
    """

    def __init__(self, function: Callable[P, R], options: dict[str, Any] = OPTIONS) -> None:
        assert isinstance(function, FunctionType)
        self._function, self._options = function, options
        self.allocation_free = options is ALLOCATION_FREE
        self._dispatcher: Any = None
        self._inner: Any = None  # the code that compiled functions inline when they call this one
        self._digest: str | None = None
        self._call: Callable[P, R] = self._first_call
        update_wrapper(self, function)

    def __call__(self, *args: P.args, **kwargs: P.kwargs) -> R:
        return self._call(*args, **kwargs)

    def _first_call(self, *args: P.args, **kwargs: P.kwargs) -> R:
        dispatcher = self.dispatcher()
        try:
            made: R = dispatcher(*args, **kwargs)
        except OSError:  # the disk is full: the code was compiled but not stored
            made = dispatcher(*args, **kwargs)
        _announce(dispatcher)
        self._call = dispatcher
        return made

    def dispatcher(self) -> Any:
        """Return the numba dispatcher of this function."""
        if self._dispatcher is None:
            made = self._versioned(self._function.__globals__.copy())

            def prepare() -> None:
                """Replace the functions that this one calls by their compiled forms."""
                made.__globals__.update(self._callees())

            self._dispatcher = _machine_code().dispatcher(made, self._options, prepare)
        return self._dispatcher

    def inner(self) -> Any:
        """Return a numba function that only other compiled functions can call."""
        if self._inner is None:
            options = self._options | {
                "no_cpython_wrapper": True,
                "forceinline": self.allocation_free,
            }
            made = self._versioned(self._function.__globals__ | self._callees())
            self._inner = _machine_code().inner(made, options)
        return self._inner

    @property
    def signatures(self) -> int:
        """Return the number of sets of argument types that this process has compiled or loaded."""
        return len(self._dispatcher.signatures) if self._dispatcher is not None else 0

    def digest(self) -> str:
        """Return a hash of the code and of all globals and functions that it uses, recursively."""
        if self._digest is None:
            self._digest = self._hashed()
        return self._digest

    def _hashed(self) -> str:
        used = {name: _version(value) for name, value in self._globals().items()}
        code = _code(self._function.__code__)
        parts = (FORMAT, *code, sorted(used.items()), *self._options.items())
        return sha256(repr(parts).encode()).hexdigest()[:HASH_DIGITS]

    def _globals(self) -> dict[str, object]:
        known = self._function.__globals__
        return {name: known[name] for name in self._function.__code__.co_names if name in known}

    def _callees(self) -> dict[str, Any]:
        """Return the compiled functions that this function calls, in a form that numba can call."""
        return {n: v.inner() for n, v in self._globals().items() if isinstance(v, Compiled)}

    def _versioned(self, known: dict[str, Any]) -> FunctionType:
        """Return the function with the globals `known`; its name contains its version."""
        function = self._function
        made = FunctionType(function.__code__, known, function.__name__, None, None)
        made.__qualname__ = f"{function.__qualname__}_{self.digest()}"
        made.__defaults__, made.__kwdefaults__ = function.__defaults__, function.__kwdefaults__
        made.__module__ = function.__module__
        return made


def compiled(function: Callable[P, R]) -> Compiled[P, R]:
    """Compile a function. The function itself must check indices that may be out of bounds."""
    return Compiled(function)


def allocation_free(function: Callable[P, R]) -> Compiled[P, R]:
    """Compile a function that allocates no array; the code counts no references to arrays.

    Counting references takes most of the time of a short function that is called for each row.
    """
    return Compiled(function, ALLOCATION_FREE)


def _version(value: object) -> str:
    """Return a text that identifies the value of a global; of a module, only its name."""
    if isinstance(value, Compiled):
        return value.digest()
    if isinstance(value, np.ndarray):
        return f"{value.dtype}{value.tolist()}"
    return str(getattr(value, "__name__", None) or repr(value))


def _code(code: CodeType) -> tuple[object, ...]:
    return code.co_code, code.co_consts, code.co_names, code.co_varnames


def _machine_code() -> ModuleType:
    """Return the module that loads numba, imported with the garbage collector off.

    numba's objects are never freed, so there is nothing to collect.
    """
    global _loaded
    with _loading:
        if _loaded is None:
            collects = gc.isenabled()
            gc.disable()
            try:
                with _without(MEASURES):
                    from . import machine_code
            finally:
                if collects:
                    gc.enable()
            _loaded = machine_code
    return _loaded


@contextmanager
def _without(name: str) -> Iterator[None]:
    """Let imports of a module fail in this context, unless it is loaded already."""
    hidden = sys.modules.setdefault(name, cast(ModuleType, None)) is None
    try:
        yield
    finally:
        if hidden:
            del sys.modules[name]


def _announce(dispatcher: Any) -> None:
    """Print once, on a terminal, that the wait is due to compiling and does not happen again."""
    global _announced
    stats = getattr(dispatcher, "stats", None)
    if _announced or stats is None or not stats.cache_misses:
        return
    _announced = True
    if sys.stderr is not None and sys.stderr.isatty():
        print(
            "skbviewer: compiling for this machine; this takes up to a minute, but only once",
            file=sys.stderr,
        )
