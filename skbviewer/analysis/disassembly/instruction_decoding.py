# SPDX-License-Identifier: MIT
"""Decode bytes into instructions, with capstone."""

from __future__ import annotations

from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import Any, NamedTuple

from ...records import BadInput

MISSING = "Disassembly needs capstone: install skbviewer with the extra disassembly, "
MISSING += "'skbviewer[disassembly]'"
JUMP, CALL, RETURN = "jump", "call", "return"


class Decoded(NamedTuple):
    """A decoded instruction; `kind` is JUMP, CALL, RETURN or "".

    `target` is the address of a jump or call; it is None if the instruction does not contain the
    address.  `falls` is false if execution never goes on to the next instruction.
    """

    address: int
    data: bytes
    mnemonic: str
    operands: str
    kind: str
    target: int | None
    falls: bool


def decoder(machine: str, path: Path) -> Any:
    """Return capstone's decoder for the machine code of `machine`, an ELF name such as EM_X86_64.

    Raises BadInput, which names `path`, if capstone cannot decode this machine's code.
    """
    capstone = _library(path)
    known = {
        "EM_X86_64": (capstone.CS_ARCH_X86, capstone.CS_MODE_64),
        "EM_AARCH64": (capstone.CS_ARCH_ARM64, capstone.CS_MODE_ARM),
    }
    if machine not in known:
        raise BadInput(path, None, f"machine code of {machine} cannot be disassembled")
    made = capstone.Cs(*known[machine])
    made.detail = made.skipdata = True
    return made


def decode(decoder_: Any, code: bytes, begin: int) -> Iterator[Decoded]:
    """Yield the instructions in `code`, which begins at the address `begin`.

    Bytes that are not an instruction are yielded as ".byte".
    """
    import capstone

    groups = (
        (capstone.CS_GRP_CALL, CALL),
        (capstone.CS_GRP_RET, RETURN),
        (capstone.CS_GRP_JUMP, JUMP),
    )
    for one in decoder_.disasm(code, begin):
        kind, target = "", None
        if one.id:  # 0: no instruction
            kind = next((word for group, word in groups if one.group(group)), "")
            kind = CALL if one.mnemonic in ("bl", "blr") else kind
            if kind in (JUMP, CALL):
                target = _target(capstone, one)
        ends = kind == RETURN or (kind == JUMP and one.mnemonic in ("jmp", "b", "br"))
        yield Decoded(
            one.address, bytes(one.bytes), one.mnemonic, one.op_str, kind, target, not ends
        )


def _target(capstone: ModuleType, one: Any) -> int | None:
    """Return the address to which an instruction jumps, or which it calls.

    The address is the last operand, because jumps of arm64 may begin with registers.
    """
    operands = [item.imm for item in one.operands if item.type == capstone.CS_OP_IMM]
    return operands[-1] & (1 << 64) - 1 if operands else None


def _library(path: Path) -> ModuleType:
    try:
        return import_module("capstone")
    except ImportError as error:
        raise BadInput(path, None, MISSING) from error
