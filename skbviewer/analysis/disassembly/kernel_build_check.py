# SPDX-License-Identifier: MIT
"""Check whether a kernel image is the build that a kernel log was recorded on.

In an image with symbols, each probed function must be where the log has it, relative to _stext.  An
image without symbols is recognised by the text that the kernel prints when it boots.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from ...readers.kernel_image import KernelImage
from ...records import BadInput

MACHINES = {"x86_64": "EM_X86_64", "aarch64": "EM_AARCH64"}  # KBL header: ELF header
SHOWN_CHARACTERS = 100  # characters of a version shown in a message


class LogKernel(NamedTuple):
    """The kernel that a kernel log was recorded on.

    `probed` has the addresses of probed functions that are not in a module.  For probed functions
    in modules, `modules` has the names of the modules.  `places` has the addresses of all probed
    functions.  `symbols` maps addresses to text such as "ip_rcv+0x4c".  Addresses are unsigned
    numbers, as in the running kernel.
    """

    source: int
    release: str
    build: str  # as `uname -v`
    arch: str
    stext: int
    probed: Mapping[str, int]
    modules: Mapping[str, str]
    symbols: Mapping[int, str]
    places: Mapping[str, int] = {}

    def starts(self) -> dict[int, str]:
        """Return the kernel's functions that the log knows, by address in the running kernel."""
        found = self._symbol_starts(with_modules=False)
        return found | {address: name for name, address in self.probed.items()}

    def all_starts(self) -> dict[int, str]:
        """Return the functions of kernel and modules that the log knows, by recorded address."""
        found = self._symbol_starts(with_modules=True)
        return found | {address: name for name, address in self.places.items()}

    def _symbol_starts(self, with_modules: bool) -> dict[int, str]:
        found = {}
        for address, text in self.symbols.items():
            name, plus, rest = text.partition("+0x")
            offset, _, module = rest.partition(" ")
            if plus and (with_modules or not module):
                found[address - int(offset, 16)] = name
        return found


def check_build(image: KernelImage, log: LogKernel) -> None:
    """Raise BadInput, which names the difference, if `image` is not the build of `log`'s kernel."""
    machine = MACHINES.get(log.arch, log.arch)
    if image.machine != machine:
        raise BadInput(image.path, None, f"is for {image.machine}, the recording is of {machine}")
    _check_text(image, log)
    if image.symbols.names:
        _check_symbols(image, log)
    elif not image.banner:
        why = "has no symbols and no version, so the image cannot be compared with the recording"
        raise BadInput(image.path, None, why)


def _check_text(image: KernelImage, log: LogKernel) -> None:
    banner = image.banner
    if not banner or not log.release:
        return
    release = banner.split(" ", 1)[0]
    if release != log.release or not banner.endswith(log.build):
        version = f"{release} {banner[max(banner.find('#'), 0) :]}"[:SHOWN_CHARACTERS]
        why = f"is another build: {version}; the recording is of {log.release} {log.build}"
        raise BadInput(image.path, None, why)


def _check_symbols(image: KernelImage, log: LogKernel) -> None:
    places: dict[str, set[int]] = {}
    for address, name in zip(image.symbols.addresses.tolist(), image.symbols.names, strict=True):
        places.setdefault(name, set()).add(address - image.stext)
    compared = 0
    for name, address in log.probed.items():
        there, here = places.get(name), address - log.stext
        if there is None:
            continue
        compared += 1
        if here not in there:
            why = (
                f"is another build: {name} is at _stext+{min(there):#x} in the image, "
                f"but at _stext+{here:#x} in the recording"
            )
            raise BadInput(image.path, None, why)
    if not compared:
        why = (
            "contains no symbol of a probed function, so the image cannot be compared with the "
            "recording"
        )
        raise BadInput(image.path, None, why)
