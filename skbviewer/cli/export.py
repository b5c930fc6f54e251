# SPDX-License-Identifier: MIT
"""skbviewer export: pictures, tables and profiles of a path, the timeline or the packet list."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from ..analysis.timeline.lanes import ALIGNED, KINDS, PACKET_KINDS
from ..analysis.timeline.shown_timeline_part import DPI, SIZE, Shown, rows_of, rows_text, seconds_of
from ..export import EXPORTS, Export, Request, Subject, Writer
from ..export.atomic_write import STDOUT
from ..export.chosen_rows import none_chosen
from ..export.packets_from_tracer_log import without_bytes
from ..export.pseudonyms import key_of, random_key
from ..session import Session
from ..session.memory_reuse import reused_memory
from .command_parsers import Commands, add_inner, command
from .file_argument import add_files, open_session, warn_of
from .program_start import needing_qt
from .terminal_output import Stderr, print_line, warn
from .time_range_option import OPEN, shifted, two_times

HELP = """Without `--lanes`, `--filter` and `--range`, the path of `--packet` is written, as a
picture with a table or as CSV.  With only `--filter`, `--csv` writes the packet list with the
columns of `skbviewer packets --csv`, but without rows K<n>, which `skbviewer packets --kernel-only
--csv` writes.  The formats `--folded` and `--speedscope` write the call stacks of `--packet`, or of
the packets that `--filter`, `--range` and `--packet` choose; the values are self times in ns.  The
formats `--pcapng` and `--pcap` write all packets, or those that `--filter`, `--range` and
`--packet` choose.  The format `--perfetto` writes the calls of the chosen packets and rows K<n>;
`--parquet` and `--jsonl` write the documented tables of them.  The format `--html` writes a report
on all packets, or on those of `--filter` and `--range`; the report shows the paths of `--packet`,
or of the first packets that were lost or slow.  All other combinations write the timeline; as CSV,
they write exactly the boxes that a picture of that size shows.  The same command always writes the
same bytes, unless `--pseudonyms` makes a random key.  OUT may be - for standard output.  Pictures
and reports need Qt, but no display."""
EVERYTHING = {"png": "--lanes packet draws all packets"}  # by format, if it is not the next one
ALL_PACKETS = "--filter '' writes all packets"
FORMS = {export.name: export for export in reversed(EXPORTS)}  # the first of each name
# The options of a picture's looks, and their usual values.
LOOKS: dict[str, Any] = {"title": "", "size": SIZE, "dpi": DPI, "theme": "light"}
SIZES = "expected WxH, from 200x100 to 30000x30000"


def add(commands: Commands) -> None:
    """Add the command to `commands`."""
    text = "write a packet's path, the timeline or the packet list as a picture or table"
    parser = command(commands, "export", text, _export)
    parser.epilog = HELP
    add_files(parser)
    form = parser.add_mutually_exclusive_group(required=True)
    for name, export in reversed(FORMS.items()):
        text = f"write {export.help}"
        text += "" if "folder" in export.options else "; - is standard output"
        form.add_argument(f"--{name}", type=Path, metavar="OUT", help=text)
    parser.add_argument(
        "--packet",
        type=_rows,
        metavar="N",
        help="number of a packet, or K<N> of a row without a captured packet; with '--lanes', a "
        "list such as 3-5,9,K2 (default: 1)",
    )
    parser.add_argument(
        "--filter",
        metavar="F",
        help="only packets that match this display filter; '' matches all packets",
    )
    parser.add_argument("--lanes", choices=KINDS, help="kind of lanes in the timeline")
    parser.add_argument(
        "--range",
        type=_range,
        metavar="A,B",
        help=f"only packets from A on and before B, in seconds of the Time column; {OPEN}. For the "
        "timeline, A and B are the shown part, in seconds since the recording began. For aligned "
        "lanes, they are in seconds since each packet's first call",
    )
    parser.add_argument(
        "--markers",
        type=_times,
        metavar="A,B",
        help="positions of the two markers, in the form of '--range'",
    )
    parser.add_argument("--title", help="title above the timeline")
    size = (
        "size in pixels; the picture of a packet's path becomes higher if its table needs more "
        "space"
    )
    parser.add_argument("--size", type=_size, metavar="WxH", help=size)
    parser.add_argument(
        "--dpi",
        type=int,
        metavar="N",
        choices=range(24, 2401),
        help=f"pixels per inch; everything in a picture is scaled by N / {DPI}",
    )
    parser.add_argument("--theme", choices=("light", "dark"), help="colours of a picture")
    cut = "write at most N bytes of each packet, in captures, reports and tables"
    parser.add_argument("--snaplen", type=_bytes, default=0, metavar="N", help=cut)
    headers = (
        "in captures and reports, write only the headers that skbviewer knows; in tables, write no "
        "bytes of packets"
    )
    parser.add_argument("--no-payload", action="store_true", help=headers)
    names = "replace addresses and host names by pseudonyms, and payloads by zeros"
    parser.add_argument("--pseudonyms", action="store_true", help=names)
    key = "file with a key of at least 16 bytes; exports with the same key have the same pseudonyms"
    parser.add_argument("--pseudonym-key", type=Path, metavar="FILE", help=key)

    lost = "also write packets that no capture contains, but whose bytes are in a log of retis"
    parser.add_argument("--kernel-only", action="store_true", help=lost)
    shape = "with '--pcapng', write the same pcapng blocks as `retis pcap`"
    parser.add_argument("--retis", action="store_true", help=shape)
    add_inner(parser)


def _bytes(text: str) -> int:
    """Parse an option's number of bytes to keep of each packet."""
    if not text.isdecimal() or not 1 <= int(text) <= 0x7FFFFFFF:
        raise argparse.ArgumentTypeError(f"{text!r} is not a number of bytes")
    return int(text)


def _rows(text: str) -> tuple[int, ...]:
    """Parse "3-5,K2" into rows."""
    try:
        return rows_of(text)
    except ValueError as error:
        raise argparse.ArgumentTypeError(str(error)) from None


def _times(text: str) -> tuple[int, int]:
    """Parse "0.5,0.7" seconds into ns."""
    parts = text.split(",")
    try:
        begin, end = (seconds_of(part) for part in parts)
    except ValueError:
        raise argparse.ArgumentTypeError(
            f"{text!r} does not have the form 'A,B', with A and B in seconds"
        ) from None
    return begin, end


def _range(text: str) -> tuple[int, int]:
    """Parse "0.5,0.7" (seconds) into ns; "0.5," has no upper limit, ",0.7" no lower one.

    In a range, the first time must not be later than the second.
    """
    try:
        begin, end = two_times(text, seconds_of)
    except ValueError:
        what = "does not have the form 'A,B', 'A,' or ',B', with A and B in seconds"
        raise argparse.ArgumentTypeError(f"{text!r} {what}") from None
    if begin > end:
        raise argparse.ArgumentTypeError(f"{text} ends before it begins")
    return begin, end


def _size(text: str) -> tuple[int, int]:
    """Parse "1600x900" into width and height in pixels."""
    width, _, height = text.partition("x")
    if not (width.isdigit() and height.isdigit() and 200 <= int(width) <= 30_000):
        raise argparse.ArgumentTypeError(f"invalid size {text} ({SIZES})")
    if not 100 <= int(height) <= 30_000:
        raise argparse.ArgumentTypeError(f"invalid size {text} ({SIZES})")
    return int(width), int(height)


def _export(arguments: argparse.Namespace) -> int:
    name = next(name for name in FORMS if getattr(arguments, name))
    out: Path = getattr(arguments, name)
    suffixes = FORMS[name].suffixes
    if out.suffix and not out.name.lower().endswith(suffixes):
        raise KeyError(f"--{name} {out}: the file name must end in {' or '.join(suffixes)}")
    if out == STDOUT and "folder" in FORMS[name].options:
        raise KeyError(f"--{name} writes a folder, so its output cannot be standard output")
    if "snaplen" not in FORMS[name].options and (arguments.snaplen or arguments.no_payload):
        offered = ", ".join(f"--{n}" for n, e in FORMS.items() if "snaplen" in e.options)
        raise KeyError(f"--{name} exports no bytes of packets: use {offered}")
    if "pseudonyms" not in FORMS[name].options and _pseudonyms(arguments):
        offered = ", ".join(f"--{n}" for n, e in FORMS.items() if "pseudonyms" in e.options)
        raise KeyError(f"--{name} cannot replace names by pseudonyms: use {offered}")
    for option in ("kernel_only", "retis"):
        if getattr(arguments, option) and option not in FORMS[name].options:
            offered = ", ".join(f"--{n}" for n, e in FORMS.items() if option in e.options)
            raise KeyError(f"--{option.replace('_', '-')} is for {offered}, not for --{name}")
    subject = _subject(arguments, name)
    _settle_looks(arguments, name, subject)
    session = open_session(arguments.files)
    session.show_inner(arguments.inner)
    nothing = _write(arguments, session, name, subject, out)
    if subject is Subject.PACKET and arguments.packet is None:
        print(f"note: only packet 1: {EVERYTHING.get(name, ALL_PACKETS)}", file=sys.stderr)
    return warn(filter(None, [nothing])) | warn_of(session, arguments.files)


def _settle_looks(arguments: argparse.Namespace, name: str, subject: Subject) -> None:
    """Set those options of a picture's appearance to their defaults that the user did not give.

    Raises KeyError if an option was given that the export does not use.
    """
    (export,) = (e for e in EXPORTS if e.name == name and subject in e.subjects)
    for option, usual in LOOKS.items():
        if getattr(arguments, option) is None:
            setattr(arguments, option, usual)
        elif option not in export.options:
            raise KeyError(f"--{option} has no effect on this export by --{name}")


def _subject(arguments: argparse.Namespace, name: str) -> Subject:
    """Return the subject that the options select.

    Raises KeyError if the format cannot contain this subject.
    """
    offered = {subject for export in EXPORTS if export.name == name for subject in export.subjects}
    named = "packet" in FORMS[name].options  # --packet, --range and --filter choose packets
    if named and not (arguments.lanes or arguments.markers):
        return Subject.PACKETS
    ranged = "range" in FORMS[name].options and not (arguments.lanes or arguments.markers)
    if ranged and (arguments.range or arguments.filter is not None):
        return Subject.PACKETS
    if arguments.lanes or arguments.range or arguments.markers:
        wanted = [Subject.TIMELINE]
    elif arguments.filter is not None and Subject.PACKETS in offered:
        if arguments.packet is not None:
            raise KeyError(f"--packet and --filter exclude each other for --{name}")
        wanted = [Subject.PACKETS]
    elif arguments.filter:
        wanted = [Subject.TIMELINE]
    else:
        wanted = [Subject.PACKET, Subject.TIMELINE]
    for subject in wanted:
        if subject in offered:
            return subject
    raise KeyError(f"--{name} cannot export the timeline: use '--packet' or '--filter'")


def _write(
    arguments: argparse.Namespace, session: Session, name: str, subject: Subject, out: Path
) -> str:
    """Write the file `out`; return a line for the user if the file has no packets, else ""."""
    (export,) = (e for e in EXPORTS if e.name == name and subject in e.subjects)
    write = export.write or _painter(export, subject)
    if subject is Subject.TIMELINE:
        request = Request(shown=_shown(arguments, session))
    elif subject is Subject.PACKETS:
        request = _packets(arguments, session, export)
    else:
        dark = arguments.theme == "dark"
        shown = Shown("packet", size=arguments.size, dpi=arguments.dpi, dark=dark)
        request = Request(_one(arguments.packet, name), shown=shown)
    progress = Stderr()
    try:
        with reused_memory():
            write(session, request._replace(progress=progress), out)
        nothing, missing = none_chosen(session, export, request), without_bytes(session, request)
    finally:
        progress.close()
    if missing and not nothing:
        print_line(f"skbviewer: {missing}", error=True)
    return nothing


def _packets(arguments: argparse.Namespace, session: Session, export: Export) -> Request:
    """Return the request for the packets to write, with the number of bytes to keep of each."""
    text = arguments.filter or ""
    if "range" not in export.options:
        return Request(None, text)
    t0_ns = session.stats.begin_ns() if arguments.range else 0
    return Request(
        None,
        text,
        rows=arguments.packet or (),
        times=_in_session(arguments.range, t0_ns) if arguments.range else None,
        snaplen=arguments.snaplen,
        payload=not arguments.no_payload,
        pseudonym_key=_key(arguments),
        kernel_only=arguments.kernel_only,
        retis=arguments.retis,
    )


def _pseudonyms(arguments: argparse.Namespace) -> bool:
    return arguments.pseudonyms or arguments.pseudonym_key is not None


def _key(arguments: argparse.Namespace) -> bytes:
    """Return the key for making pseudonyms; b"" if no pseudonyms are wanted. Raises BadInput."""
    if arguments.pseudonym_key is not None:
        return key_of(arguments.pseudonym_key)
    return random_key() if arguments.pseudonyms else b""


def _painter(export: Export, subject: Subject) -> Writer:
    if export.name == "csv":
        from ..gui.pictures.timeline_box_table import write_timeline_table  # loads much, but no Qt

        return write_timeline_table
    what = "an export of the timeline" if subject is Subject.TIMELINE else "a picture"
    with needing_qt(what):
        from ..gui.pictures.export_painters import PAINTERS  # needs Qt, but no display
    return PAINTERS[export.name, subject]


def _one(rows: tuple[int, ...] | None, name: str) -> int:
    """Return the row whose path is exported in the format `name`; by default, this is row 1.

    Raises KeyError if `rows` has more than one row.
    """
    if rows is not None and len(rows) != 1:
        several = "add --filter ''" if "range" in FORMS[name].options else "use --lanes"
        raise KeyError(
            f"--packet {rows_text(rows)}: a path belongs to one packet; for several, {several}"
        )
    return 1 if rows is None else rows[0]


def _shown(arguments: argparse.Namespace, session: Session) -> Shown:
    lanes = arguments.lanes or "packet"
    t0 = 0 if lanes == ALIGNED else session.timeline.overview().t0_ns
    times = _in_session(arguments.range, t0)
    a, b = _in_session(arguments.markers, t0) or (None, None)
    ids: tuple[int, ...] = ()
    text, named = arguments.filter or "", arguments.packet is not None
    if lanes in PACKET_KINDS and named:
        ids = arguments.packet
        _check(session, ids)
    elif lanes in PACKET_KINDS:
        ids = session.export.lane_ids(text, None if lanes == ALIGNED else times)
    return Shown(
        lanes,
        ids,
        times,
        a,
        b,
        text,
        named,
        arguments.title,
        arguments.size,
        arguments.dpi,
        arguments.theme == "dark",
        arguments.inner,
    )


def _check(session: Session, rows: Sequence[int]) -> None:
    """Raise KeyError if the session does not have the row."""
    packets, lives = session.packets.count(), session.packets.all_kernel_only_count()
    for row in rows:
        if not (1 <= row <= packets or -lives <= row < 0):
            raise KeyError(f"no packet {rows_text([row])}")


def _in_session(times: tuple[int, int] | None, t0_ns: int) -> tuple[int, int] | None:
    return None if times is None else shifted(times, t0_ns)
