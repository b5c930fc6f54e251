# SPDX-License-Identifier: MIT
"""Kernel images: the code, symbols and source lines of a vmlinux, or the code in a vmlinuz."""

from __future__ import annotations

from .elf_image import KernelImage, SourceLine, Symbols, read_image

__all__ = ["KernelImage", "SourceLine", "Symbols", "read_image"]
