# SPDX-License-Identifier: MIT
"""Loops over millions of rows, compiled to machine code by numba.

`@compiled` is for plain loops over numpy arrays and numbers, which take rows one by one where array
operations would need a temporary array for each step.  Neither this module nor the decorator loads
numba: the first call of such a function does.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from functools import update_wrapper
from hashlib import sha256
from types import CodeType, FunctionType
from typing import Any, Generic, ParamSpec, TypeVar

import numpy as np

P = ParamSpec("P")
R = TypeVar("R")
Int = int | np.integer[Any]  # a number, of those that compiled functions reckon with
# Without what only C programs would call: that takes a fifth of the time to compile.
OPTIONS: dict[str, Any] = {"nogil": True, "error_model": "python", "no_cfunc_wrapper": True}
LEAN = OPTIONS | {"_nrt": False}
SHORT = 16  # hex digits that tell the versions of a function apart

_told = False


class Compiled(Generic[P, R]):
    """A function that is compiled when it is called first: for each set of argument types once.

    So give it the same types always: a Python int and an int64 are one, an int32 is another, and so
    is a literal that one compiled function gives another: count from np.int64(0).  An array that is
    not contiguous or not writable is of another type than one that is.  What numba
    knows of Python is little: arrays, also structured ones, numbers, tuples (NamedTuple as well),
    and other compiled functions, of any module.  Globals are constants, fixed when it is compiled;
    import them by name, for of a module's members nothing is known here (see below).

    The machine code is kept in __pycache__ beside the source, else, where that is not writable, in
    the user's cache folder (numba's), else it is compiled in each process anew.  It is made again
    when the source, a global it uses or a function it calls has changed.

    Raises what the function raises, but no IndexError: an index that lies outside reads or
    overwrites other memory, so check what comes out of files before.  Integers wrap around; a
    division by zero raises ZeroDivisionError.  Other threads run meanwhile: the GIL is not held.
    """

    def __init__(self, function: Callable[P, R], options: dict[str, Any] = OPTIONS) -> None:
        assert isinstance(function, FunctionType)
        self._function, self._options = function, options
        self.lean = options is LEAN
        self._dispatcher: Any = None
        self._inner: Any = None  # the same for other compiled functions, which keep its code
        self._call: Callable[P, R] = self._first_call
        update_wrapper(self, function)

    def __call__(self, *args: P.args, **kwargs: P.kwargs) -> R:
        return self._call(*args, **kwargs)

    def _first_call(self, *args: P.args, **kwargs: P.kwargs) -> R:
        dispatcher = self.dispatcher()
        try:
            made: R = dispatcher(*args, **kwargs)
        except OSError:  # the disk is full: compiled, but not kept
            made = dispatcher(*args, **kwargs)
        _tell(dispatcher)
        self._call = dispatcher
        return made

    def dispatcher(self) -> Any:
        """numba's."""
        if self._dispatcher is None:
            self._dispatcher = _dispatcher(self._resolved(), self._options)
        return self._dispatcher

    def inner(self) -> Any:
        """What numba takes for a function that another one may call, but nobody else."""
        if self._inner is None:
            from numba import njit

            options = self._options | {"no_cpython_wrapper": True, "forceinline": self.lean}
            self._inner = njit(**options)(self._resolved())
        return self._inner

    @property
    def signatures(self) -> int:
        """For how many sets of argument types it has been compiled in this process, or loaded."""
        return len(self._dispatcher.signatures) if self._dispatcher is not None else 0

    def digest(self) -> str:
        """Of the code and of all globals and functions it uses, with theirs."""
        used = {name: _version(value) for name, value in self._globals().items()}
        parts = (*_code(self._function.__code__), sorted(used.items()), *self._options.items())
        return sha256(repr(parts).encode()).hexdigest()[:SHORT]

    def _globals(self) -> dict[str, object]:
        known = self._function.__globals__
        return {name: known[name] for name in self._function.__code__.co_names if name in known}

    def _resolved(self) -> FunctionType:
        """The function, calling what numba can call; its name tells its version to the cache."""
        function = self._function
        others = {n: v.inner() for n, v in self._globals().items() if isinstance(v, Compiled)}
        made = FunctionType(
            function.__code__, function.__globals__ | others, function.__name__, None, None
        )
        made.__qualname__ = f"{function.__qualname__}_{self.digest()}"
        made.__defaults__, made.__kwdefaults__ = function.__defaults__, function.__kwdefaults__
        made.__module__ = function.__module__
        return made


def compiled(function: Callable[P, R]) -> Compiled[P, R]:
    """Compile a function that checks by itself, or need not, that its indices are good."""
    return Compiled(function)


def lean(function: Callable[P, R]) -> Compiled[P, R]:
    """The same for a function that makes no array: references to arrays are not counted then.

    That is most of the work of a short function that another one calls for each row.
    """
    return Compiled(function, LEAN)


def _version(value: object) -> str:
    """Tells values of globals apart; of a module only its name."""
    if isinstance(value, Compiled):
        return value.digest()
    if isinstance(value, np.ndarray):
        return f"{value.dtype}{value.tolist()}"
    return str(getattr(value, "__name__", None) or repr(value))


def _code(code: CodeType) -> tuple[object, ...]:
    return code.co_code, code.co_consts, code.co_names, code.co_varnames


def _dispatcher(function: FunctionType, options: dict[str, Any]) -> Any:
    from numba import njit

    try:
        return njit(cache=True, **options)(function)
    except RuntimeError:  # "cannot cache function": no folder is writable
        return njit(**options)(function)


def _tell(dispatcher: Any) -> None:
    """Say once, to somebody who waits for it, that this does not take so long every time."""
    global _told
    stats = getattr(dispatcher, "stats", None)
    if _told or stats is None or not stats.cache_misses:
        return
    _told = True
    if sys.stderr is not None and sys.stderr.isatty():
        print("skbviewer: compiling for this machine, some seconds, only once", file=sys.stderr)
