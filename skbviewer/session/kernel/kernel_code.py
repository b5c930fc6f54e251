# SPDX-License-Identifier: MIT
"""The machine code of functions in an open session: recorded code, or code from a kernel image."""

from __future__ import annotations

import threading
from collections import Counter, defaultdict
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from ...records import BadInput, FunctionCode, Progress, Silent, SourceRow
from ...records.kernel_events import DROP
from ...store import machine_code_queries, queries
from ..open_session_file import OpenedFile

if TYPE_CHECKING:  # reading ELF files takes time to load
    from ...analysis.disassembly import Disassembly, LogKernel, Marks
    from ...readers.kernel_image import KernelImage

MASK32, MASK64 = (1 << 32) - 1, (1 << 64) - 1
NO_CODE = (
    "has no machine code of {}: give the recorded kernel's image with '--image', or record with "
    "'kblrecord --code'"
)
NOT_RECORDED = (
    "has no machine code of {}: counts can only be shown for code that 'kblrecord --code' recorded"
)


class KernelCode:
    """Disassembles functions; it keeps the image that was read last."""

    def __init__(self, opened: OpenedFile) -> None:
        self._opened = opened
        self._lock = threading.Lock()
        self._kept: tuple[tuple[Path, int, int], KernelImage] | None = None

    def releases(self) -> tuple[str, ...]:
        """Return the releases of the kernels that were recorded, in import order."""
        found = [source.detail.get("release", "") for source in self._logs()]
        return tuple(dict.fromkeys(found))

    def is_recorded(self, function: str) -> bool:
        """Return whether a kernel log contains the code of `function`."""
        return self._recorded(function) is not None

    def disassemble(
        self,
        function: str,
        image: Path | None = None,
        progress: Progress | None = None,
        counts: Path | None = None,
    ) -> Disassembly:
        """Return the disassembled code of `function`, with what this recording shows about it.

        If a kernel log has the code of the function, that code is returned.  To recorded code,
        `image` only adds names, source lines, and the instructions that the kernel replaced.  If no
        log has the code of the function, the code in `image` is returned.  `counts` is a file with
        executed instructions of the same boot; it needs recorded code.

        Raises BadInput if no code is found; if `image` cannot be read, is of another build, or does
        not have the function; or if `counts` cannot be read, or is of another boot.  Raises
        Cancelled.
        """
        recorded = self._recorded(function)
        if recorded is not None:
            shown = self._of_log(function, *recorded, image, progress or Silent())
            return shown if counts is None else self.counted(shown, counts)
        if counts is not None:
            raise BadInput(self._opened.path, None, NOT_RECORDED.format(function))
        if image is None:
            raise BadInput(self._opened.path, None, NO_CODE.format(function))
        return self._of_image(function, image, progress)

    def counted(self, shown: Disassembly, counts: Path) -> Disassembly:
        """Return the recorded code `shown` with the number of executions of each instruction.

        `counts` is a file with executed instructions of the same boot.  Raises BadInput if the file
        cannot be read, or is of another boot.
        """
        from ...analysis.disassembly import with_executed_counts
        from ...readers.kernel_image.emulator_block_counts import read_executed_blocks

        return with_executed_counts(shown, read_executed_blocks(counts))

    def _of_log(
        self,
        function: str,
        source: SourceRow,
        code: FunctionCode,
        image: Path | None,
        progress: Progress,
    ) -> Disassembly:
        from ...analysis.disassembly import check_build, disassemble_recorded

        log, read = self._kernel(source), None
        if image is not None:
            progress.report(f"reading {image.name}", 0, 2)
            read = self._image(image)
            check_build(read, log)
        progress.report(f"disassembling {function}", 1, 2)
        end = code.address + len(code.data)
        marks = self._marks(self._of_this_boot(source), log.stext, code.address, end)
        return disassemble_recorded(code, Path(source.path), log, function, marks, read)

    def _recorded(self, function: str) -> tuple[SourceRow, FunctionCode] | None:
        """Return the first kernel log that contains the code of `function`, and this code."""
        with self._opened.database() as db:
            for source in self._logs():
                places = machine_code_queries.probe_places(db, source.id)
                for address in (one.address for one in places if one.name == function):
                    code = machine_code_queries.code_at(db, source.id, address)
                    if code is not None:
                        return source, code
        return None

    def _of_this_boot(self, source: SourceRow) -> list[LogKernel]:
        """Return the logs of the same boot as `source`, in which addresses are equal."""
        boot = self._opened.names_of(source.id).meta.get("boot_id")
        same = [
            one for one in self._logs() if self._opened.names_of(one.id).meta.get("boot_id") == boot
        ]
        return [self._kernel(one) for one in (same if boot else [source])]

    def _of_image(self, function: str, image: Path, progress: Progress | None) -> Disassembly:
        from ...analysis.disassembly import disassemble
        from ...analysis.disassembly.kernel_image_code import extent_of

        steps = progress or Silent()
        steps.report(f"reading {image.name}", 0, 3)
        read = self._image(image)
        steps.report(f"comparing {image.name}", 1, 3)
        logs = self._kernels_of(read)
        log = next((one for one in logs if function in one.probed), logs[0])
        extent = extent_of(read, log, function)
        steps.report(f"disassembling {function}", 2, 3)
        marks = self._marks(logs, read.stext, extent.begin, extent.end)
        return disassemble(read, log, function, marks)

    def _image(self, path: Path) -> KernelImage:
        from ...readers.kernel_image import read_image

        try:
            status = path.stat()
        except OSError as error:
            raise BadInput(path, None, error.strerror or str(error)) from error
        key = (path, status.st_size, status.st_mtime_ns)
        with self._lock:
            if self._kept is None or self._kept[0] != key:
                self._kept = None  # two kernels need not be in memory at once
                self._kept = (key, read_image(path))
            return self._kept[1]

    def _logs(self) -> Sequence[SourceRow]:
        return [source for source in self._opened.sources() if source.kind.is_log]

    def _kernels_of(self, image: KernelImage) -> list[LogKernel]:
        """Return the logs of kernels that were booted from `image`.

        Raises BadInput if `image` fits no log.
        """
        from ...analysis.disassembly import check_build

        found, refused = [], list[BadInput]()
        for source in self._logs():
            log = self._kernel(source)
            if not log.stext:
                continue  # another tracer's log, which has no addresses
            try:
                check_build(image, log)
            except BadInput as error:
                refused.append(error)
            else:
                found.append(log)
        if not found and refused:
            raise refused[0]
        if not found:
            why = (
                "cannot be used, because no kernel log of the recording contains addresses of "
                "functions"
            )
            raise BadInput(image.path, None, why)
        return found

    def _kernel(self, source: SourceRow) -> LogKernel:
        from ...analysis.disassembly import LogKernel

        names = self._opened.names_of(source.id)
        with self._opened.database() as db:
            probes = machine_code_queries.probe_places(db, source.id)
        return LogKernel(
            source.id,
            source.detail.get("release", ""),
            names.meta.get("kernel", ""),
            source.detail.get("arch", ""),
            int(names.meta.get("stext", "0")),
            {one.name: one.address & MASK64 for one in probes if not one.module},
            {one.name: one.module for one in probes if one.module},
            {address & MASK64: text for address, text in names.symbols.items()},
            {one.name: one.address & MASK64 for one in probes},
        )

    def _marks(self, logs: Sequence[LogKernel], stext: int, begin: int, end: int) -> Marks:
        """Return the drops and calls in `logs` that happened in the code from `begin` to `end`.

        `begin` and `end` are addresses in a kernel image whose `_stext` is at `stext`.
        """
        from ...analysis.disassembly import Marks

        drops = Counter[int]()
        calls: defaultdict[int, Counter[str]] = defaultdict(Counter)
        for log in logs:
            slide = log.stext - stext
            drops.update(self._drops(log.source, begin - stext, end - stext, stext))
            first, last = _signed(begin + slide), _signed(end + slide)
            for caller, function, count in self._calls(log.source, first, last):
                calls[(caller & MASK64) - slide][function] += count
        return Marks(drops, calls)

    def _drops(self, source: int, first: int, last: int, stext: int) -> dict[int, int]:
        """Return the number of drops at each code address.

        `first` and `last` are offsets from `_stext`.  The returned addresses are addresses in an
        image whose `_stext` is at `stext`.
        """
        columns = self._opened.columns
        event = np.asarray(columns.array("event", "event"))
        rows = np.flatnonzero(event == DROP)
        if not len(rows):
            return {}
        of = np.asarray(columns.array("event", "source"), np.int64)[rows]
        data = np.asarray(columns.array("event", "data"), np.int64)[rows]
        place = (data >> 32) & MASK32
        begin, size = first & MASK32, last - first
        inside = (place - begin - 1) & MASK32  # a module may be before _stext
        place = place[(of == source) & (inside < size)]
        found, counts = np.unique(place, return_counts=True)
        return {
            stext + first + ((at - begin) & MASK32): n
            for at, n in zip(found.tolist(), counts.tolist(), strict=True)
        }

    def _calls(self, source: int, first: int, last: int) -> list[tuple[int, str, int]]:
        """Return (return address, function, number of calls), including calls of no packet.

        A call that handled several packets counts once; return addresses are signed.
        """
        columns = self._opened.columns
        caller = np.asarray(columns.array("call", "caller"), np.int64)
        rows = np.flatnonzero((caller >= first) & (caller <= last))
        leg = np.asarray(columns.take("call", "leg", rows), np.int64) - 1
        of = np.asarray(columns.take("leg", "source", leg), np.int64) if len(rows) else leg
        func = np.asarray(columns.take("call", "func", rows), np.int64)
        ordinal = np.asarray(columns.take("call", "ordinal", rows), np.int64)
        table = np.stack([caller[rows], func, ordinal], axis=1)[of == source]
        once = np.unique(table, axis=0)[:, :2]
        found, counts = np.unique(once, axis=0, return_counts=True)
        counted = [(*pair, n) for pair, n in zip(found.tolist(), counts.tolist(), strict=True)]
        with self._opened.database() as db:
            counted += machine_code_queries.calls_of_no_packet(db, source, first, last)
            names = queries.functions(db, source)
        return [(at, names.get(number, f"probe {number}"), n) for at, number, n in counted]


def _signed(address: int) -> int:
    return address - (1 << 64) if address >> 63 else address
