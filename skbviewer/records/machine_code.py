# SPDX-License-Identifier: MIT
"""The machine code of compiled functions: compiled by numba, stored on disk, loaded from there.

numba prepares its compiler before it loads code, even if nothing has to be compiled; that takes
three times as long as loading the code. numba also stores a copy of each function, to be inlined in
other compiled functions; it reads this copy each time, and gives each function an LLVM module. This
module stores and loads object code only, without preparing a compiler. Importing it loads numba.
"""

from __future__ import annotations

import fcntl
import os
import time
from collections.abc import Callable
from contextlib import suppress
from functools import cache, partial
from threading import RLock
from types import FunctionType
from typing import Any

from llvmlite import binding
from numba import _dynfunc, njit
from numba.core.caching import CompileResultCacheImpl, FunctionCache
from numba.core.compiler import CompileResult
from numba.core.runtime import rtsys

MOST_WAIT_S, POLL_S = 60.0, 0.02  # for another process that compiles


class _Stored(CompileResultCacheImpl):  # type: ignore[misc]
    """The parts of a compiled function that are written to disk."""

    def reduce(self, result: Any) -> tuple[Any, ...]:
        """Return the parts to store: numba's own, but not the copy for inlining.

        Machine code reads only constants in the environments of the functions that it contains.
        Environments without constants would make numba import their modules.
        """
        (_, _, (code, _)), *rest, inlined = super().reduce(result)
        return (code, *rest, [one for one in inlined if one.consts])

    def rebuild(self, target: Any, payload: tuple[Any, ...]) -> Any:
        """Load the machine code from the parts that reduce() returned."""
        code, names, own, signature, object_mode, lifted, text, prepare, inlined = payload
        for call in prepare:
            call()
        codegen = target.codegen()
        engine = codegen._engine
        engine._ee.add_object_file(binding.ObjectFileRef.from_data(code))
        engine.finalize_object()
        for each in (own, *inlined):
            codegen.set_env(each.env_name, each)
        address = engine.get_function_address(names.llvm_cpython_wrapper_name)
        entry = _dynfunc.make_function(
            names.lookup_module(), names.qualname.split(".")[-1], "", address, own, (engine,)
        )
        return CompileResult(
            target_context=target,
            typing_context=target.typing_context,
            library=None,
            environment=own,
            entry_point=entry,
            fndesc=names,
            type_annotation=text,
            signature=signature,
            objectmode=object_mode,
            lifted=lifted,
            typing_error=None,
            call_helper=None,
            metadata=None,
            reload_init=prepare,
            referenced_envs=inlined,
        )


class _Files(FunctionCache):  # type: ignore[misc]
    """The files of one function; `prepare` is called before the function is compiled."""

    _impl_class = _Stored

    def __init__(self, function: FunctionType, prepare: Callable[[], None]) -> None:
        super().__init__(function)
        self._prepare = prepare
        self._locked: int | None = None  # a descriptor of the folder of stored code
        self.one_thread = RLock()  # held while a thread may hold or take the folder's lock

    def load_overload(self, signature: Any, target: Any) -> Any:
        """Return the stored code for a signature; None if it must be compiled."""
        rtsys.initialize(target)  # what machine code calls to allocate arrays
        found = self._stored(signature, target)
        if found is None:
            self._lock()
            found = self._stored(signature, target)
        if found is None:
            self._prepare()
        return found

    def _stored(self, signature: Any, target: Any) -> Any:
        found = None
        with self._guard_against_spurious_io_errors():
            found = self._load_overload(signature, target)
        return found

    def _lock(self) -> None:
        """Wait until no other process compiles a function of this folder: it may be the same one.

        Three processes that start on a new machine would each compile for a minute.  After
        MOST_WAIT_S (the other process may be stopped), or where a folder cannot be locked (NFS),
        each process compiles by itself.
        """
        with suppress(OSError):
            os.makedirs(self._cache_path, exist_ok=True)
            self._locked = os.open(self._cache_path, os.O_RDONLY | os.O_CLOEXEC)
            until = time.monotonic() + MOST_WAIT_S
            while time.monotonic() < until:
                with suppress(BlockingIOError):
                    fcntl.flock(self._locked, fcntl.LOCK_EX | fcntl.LOCK_NB)
                    return
                time.sleep(POLL_S)

    def unlock(self) -> None:
        """Let other processes compile."""
        if self._locked is not None:
            with suppress(OSError):  # closing does not unlock what a forked process has open
                fcntl.flock(self._locked, fcntl.LOCK_UN)
            os.close(self._locked)
            self._locked = None

    def _index_key(self, signature: Any, codegen: Any) -> tuple[Any, ...]:
        """Return the key of a signature's code; the name of the function contains its version."""
        return signature, _processor(codegen)


@cache
def _processor(codegen: Any) -> tuple[Any, ...]:
    """Return what identifies the processor; asking LLVM for each function takes 10 ms."""
    found: tuple[Any, ...] = codegen.magic_tuple()
    return found


def dispatcher(function: FunctionType, options: dict[str, Any], prepare: Callable[[], None]) -> Any:
    """Return a numba dispatcher of `function`; `options` are those of numba.njit().

    `prepare` is called before anything is compiled, perhaps repeatedly.
    """
    made = njit(**options)(function)
    if made is function:  # NUMBA_DISABLE_JIT
        return made
    try:
        made._cache = _Files(function, prepare)
    except RuntimeError:  # "cannot cache function": no folder is writable
        prepare()
    else:
        made.compile = partial(_compile_alone, made.compile, made._cache)
    return made


def _compile_alone(load_or_compile: Callable[[Any], Any], files: _Files, signature: Any) -> Any:
    """Return the code for a signature; a lock that _Files took for compiling is released."""
    with files.one_thread:
        try:
            return load_or_compile(signature)
        finally:
            files.unlock()


def inner(function: FunctionType, options: dict[str, Any]) -> Any:
    """Return a numba function that only other compiled functions can call.

    `options` are those of numba.njit().
    """
    return njit(**options)(function)
