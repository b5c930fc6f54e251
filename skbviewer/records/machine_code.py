# SPDX-License-Identifier: MIT
"""The machine code of compiled functions: compiled by numba, stored on disk, loaded from there.

numba prepares its compiler before it loads code, even if nothing has to be compiled; that takes
three times as long as loading the code.  It also stores a copy of each function for inlining into
other compiled functions, and reads it each time.  This module does neither.  Importing it loads
numba.
"""

from __future__ import annotations

from collections.abc import Callable
from types import FunctionType
from typing import Any

from llvmlite import binding
from numba import njit
from numba.core.caching import CompileResultCacheImpl, FunctionCache
from numba.core.runtime import rtsys

OBJECT = "object"  # the kind of a library that numba keeps as machine code
ENVIRONMENT = "_ZN08NumbaEnv"  # prefix of the variables that hold the globals of functions


class _Stored(CompileResultCacheImpl):  # type: ignore[misc]
    """The parts of a compiled function that are written to disk."""

    def reduce(self, result: Any) -> tuple[Any, ...]:
        """Return the parts to store: numba's own, but only names from the copy for inlining."""
        (name, kind, code), made, *rest = super().reduce(result)
        if kind == OBJECT:
            functions = made.llvm_func_name, made.llvm_cpython_wrapper_name
            code = code[0], _names(code[1], functions)
        return (name, kind, code), made, *rest


def _names(code: bytes, functions: tuple[str, ...]) -> bytes:
    """Return bitcode that defines only the names numba needs: its variables and `functions`."""
    variables = binding.parse_bitcode(code).global_variables
    names = {*functions, *(one.name for one in variables if one.name.startswith(ENVIRONMENT))}
    lines = (f'@"{name}" = global i8 0' for name in sorted(names))
    return bytes(binding.parse_assembly("\n".join(lines)).as_bitcode())


class _Files(FunctionCache):  # type: ignore[misc]
    """The files of one function; `prepare` is called before the function is compiled."""

    _impl_class = _Stored

    def __init__(self, function: FunctionType, prepare: Callable[[], None]) -> None:
        super().__init__(function)
        self._prepare = prepare

    def load_overload(self, signature: Any, target: Any) -> Any:
        """Return the code for a signature; None if it must be compiled."""
        rtsys.initialize(target)  # what machine code calls to allocate arrays
        with self._guard_against_spurious_io_errors():
            found = self._load_overload(signature, target)
            if found is not None:
                return found
        self._prepare()
        return None


def dispatcher(function: FunctionType, options: dict[str, Any], prepare: Callable[[], None]) -> Any:
    """Return a numba dispatcher of `function`; `options` are those of numba.njit().

    `prepare` is called before anything is compiled, perhaps repeatedly.
    """
    made = njit(**options)(function)
    try:
        made._cache = _Files(function, prepare)
    except RuntimeError:  # "cannot cache function": no folder is writable
        prepare()
    return made


def inner(function: FunctionType, options: dict[str, Any]) -> Any:
    """Return a numba function that only other compiled functions can call.

    `options` are those of numba.njit().
    """
    return njit(**options)(function)
