# SPDX-License-Identifier: MIT
"""Write packets as enhanced packet blocks of a pcapng file, many at once.

Layout: https://datatracker.ietf.org/doc/draft-ietf-opsawg-pcapng/, section 4.3.
"""

from __future__ import annotations

import numpy as np

from ...records.compiled import Int, allocation_free, compiled
from ...records.types import Bools, Int64s, UInt8s, UInt32s
from .byte_copy_loops import copy_ahead, copy_exactly
from .comment_format import LONGEST, MARK, PREFIX
from .field_text_loops import Texts

HEADER = 28  # bytes of a block before the packet's
OPT_END, OPT_COMMENT, OPT_FLAGS, OPT_HASH, OPT_DROPCOUNT, OPT_PACKETID = 0, 1, 2, 3, 4, 5
OPT_QUEUE, OPT_VERDICT, OPT_CUSTOM_TEXT, OPT_CUSTOM_BYTES = 6, 7, 2988, 2989
SPACE, COMMA, EQUALS, COLON, SEMICOLON = 32, 44, 61, 58, 59
BLOCK = 6
MARK_BYTES, PREFIX_BYTES = np.frombuffer(MARK, np.uint8), np.frombuffer(PREFIX, np.uint8)


@allocation_free
def _number(data: UInt8s, at: Int, size: Int, little: bool) -> np.int64:
    """Return the unsigned number at a position of the source file."""
    value = np.int64(0)
    for i in range(size):
        value = value << np.int64(8) | np.int64(data[at + size - 1 - i if little else at + i])
    return value


@allocation_free
def _put(out: UInt8s, at: Int, value: Int, size: Int) -> np.int64:
    """Write a little-endian number; return the position after the number."""
    for i in range(size):
        out[at + i] = np.uint8((np.uint64(value) >> np.uint64(8 * i)) & np.uint64(255))
    return np.int64(at + size)


@allocation_free
def _copy(data: UInt8s, begin: Int, size: Int, out: UInt8s, at: Int) -> np.int64:
    """Copy bytes, padded to a multiple of four; return the position after the padding."""
    end = copy_exactly(data, begin, begin + size, out, at)
    for _ in range(-size % 4):
        out[end] = 0
        end += 1
    return end


@allocation_free
def _copy_number(
    data: UInt8s, begin: Int, size: Int, little: bool, out: UInt8s, at: Int
) -> np.int64:
    """Copy a number of the source file as a little-endian number."""
    for i in range(size):
        out[at + i] = data[begin + i if little else begin + size - 1 - i]
    return np.int64(at + size)


@allocation_free
def _without_mark(out: UInt8s, begin: Int, end: Int) -> None:
    """Change each MARK in a foreign comment, because MARK is the sign of exported comments."""
    size = len(MARK_BYTES)
    for at in range(begin, end - size + 1):
        same = True
        for i in range(size):
            if out[at + i] != MARK_BYTES[i]:
                same = False
                break
        if same:
            out[at + size - 1] = SEMICOLON


@allocation_free
def _foreign_comment(data: UInt8s, begin: Int, size: Int, out: UInt8s, at: Int) -> np.int64:
    _put(out, at, OPT_COMMENT, 2)
    _put(out, at + 2, size, 2)
    end = _copy(data, begin, size, out, at + 4)
    _without_mark(out, at + 4, at + 4 + size)
    return end


@allocation_free
def _option(
    data: UInt8s, begin: Int, code: Int, size: Int, little: bool, changed: bool, texts: bool,
    out: UInt8s, at: Int,
) -> np.int64:  # fmt: skip
    """Copy a source file's option if it is still true; return the position after the copy."""
    if not texts and code in (OPT_COMMENT, OPT_CUSTOM_TEXT, OPT_CUSTOM_BYTES):
        return np.int64(at)
    if code == OPT_COMMENT:
        return _foreign_comment(data, begin, size, out, at)
    sized = code in (OPT_FLAGS, OPT_QUEUE) and size == 4
    sized = sized or (code in (OPT_DROPCOUNT, OPT_PACKETID) and size == 8)
    custom = code in (OPT_CUSTOM_TEXT, OPT_CUSTOM_BYTES) and size >= 4
    verdict = code == OPT_VERDICT and size == 9
    if not (sized or custom or verdict or (code == OPT_HASH and not changed)):
        return np.int64(at)
    _put(out, at, code, 2)
    _put(out, at + 2, size, 2)
    end = _copy(data, begin, size, out, at + 4)
    if sized:
        _copy_number(data, begin, size, little, out, at + 4)
    elif custom:
        _copy_number(data, begin, np.int64(4), little, out, at + 4)
    elif verdict:
        _copy_number(data, begin + 1, np.int64(8), little, out, at + 5)
    return end


@allocation_free
def options_place(data: UInt8s, offset: Int, caplen: Int) -> tuple[np.int64, np.int64, bool]:
    """Return the start and end of a packet block's options, and whether the block is little-endian.

    The packet of the block has `caplen` bytes and begins at `offset` of `data`. If the block's
    length is impossible, start and end are both 0.
    """
    start, nowhere = offset - HEADER, np.int64(0)
    begin = offset + caplen + -caplen % 4
    if start < 0 or begin > len(data):
        return nowhere, nowhere, True
    little = data[start] != 0
    end = start + _number(data, start + 4, np.int64(4), little) - 4
    if end > len(data) or end < begin:
        return nowhere, nowhere, little
    return np.int64(begin), np.int64(end), little


@allocation_free
def _options(
    data: UInt8s, offset: Int, caplen: Int, changed: bool, texts: bool, out: UInt8s, at: Int
) -> tuple[np.int64, bool]:
    """Copy the options of a packet block; return the end, and whether an option is a packet id."""
    place, end, little = options_place(data, offset, caplen)
    made, has_id = np.int64(at), False
    while place + 4 <= end:
        code = _number(data, place, np.int64(2), little)
        size = _number(data, place + 2, np.int64(2), little)
        if code == OPT_END or place + 4 + size > end:
            break
        has_id = has_id or code == OPT_PACKETID
        made = _option(data, place + 4, code, size, little, changed, texts, out, made)
        place += 4 + size + -size % 4
    return made, has_id


@allocation_free
def _put_words(words: UInt32s, at: Int, first: Int, second: Int) -> np.int64:
    """Write two 32-bit numbers at a multiple of 4; return the position after the second.

    The new file is little-endian, as is this machine: numba has no builds for big-endian machines.
    """
    word = np.uint64(at) >> np.uint64(2)
    words[word] = np.uint32(first)
    words[word + np.uint64(1)] = np.uint32(second)
    return np.int64(at + 8)


@allocation_free
def _put_option(words: UInt32s, at: Int, code: Int, size: Int) -> np.int64:
    words[np.uint64(at) >> np.uint64(2)] = np.uint32(code | size << 16)
    return np.int64(at + 4)


@allocation_free
def _our_comment(
    text: UInt8s, begin: Int, end: Int, out: UInt8s, words: UInt32s, at: Int
) -> np.int64:
    """Write the comment with kernel fields; a comment that is too long is divided into several."""
    size = np.int64(end - begin)
    if size > LONGEST:
        return _divided_comment(text, begin, end, out, at)
    if size == 0:
        return np.int64(at)
    made = copy_ahead(text, begin, end, out, _put_option(words, at, OPT_COMMENT, size))
    for _ in range(-size % 4):
        out[made] = 0
        made += 1
    return made


@allocation_free
def _divided_comment(text: UInt8s, begin: Int, end: Int, out: UInt8s, at: Int) -> np.int64:
    """Write a comment as several comments.

    The text is divided before a space, or at a comma. The text has a space or comma at least every
    LONGEST bytes.
    """
    made, place = np.int64(at), np.int64(begin)
    repeated_from, repeated_to = np.int64(begin), np.int64(begin)
    while place < end:
        is_first = place == begin
        head = np.int64(0) if is_first else len(PREFIX_BYTES) + repeated_to - repeated_from
        stop = np.int64(min(end, place + LONGEST - head))
        while stop < end and text[stop] != SPACE and text[stop] != COMMA:
            stop -= 1
        start, made = made, made + 4
        if not is_first:
            for i in range(len(PREFIX_BYTES)):
                out[made + i] = PREFIX_BYTES[i]
            made += len(PREFIX_BYTES)
            for i in range(repeated_from, repeated_to):
                out[made] = text[i]
                made += 1
        made = copy_exactly(text, place, stop, out, made)
        size = made - start - 4
        _put(out, start, OPT_COMMENT, 2)
        _put(out, start + 2, size, 2)
        for _ in range(-size % 4):
            out[made] = 0
            made += 1
        repeated_from, repeated_to, place = stop, stop, stop
        if stop < end and text[stop] == COMMA:  # the field goes on: repeat its name
            while text[repeated_from] != SPACE:
                repeated_from -= 1
            repeated_to = repeated_from + 1
            while text[repeated_to - 1] != EQUALS:
                repeated_to += 1
            place = stop + 1
    return made


@compiled
def options_sizes(data: UInt8s, offset: Int64s, caplen: Int64s) -> np.int64:
    """Return an upper limit for the total size of the options of all packet blocks.

    For each packet: `offset` in `data` and captured length. The result may be larger than the real
    size, because other bytes may look like options.
    """
    size = np.int64(0)
    for i in range(len(offset)):
        begin, end, _ = options_place(data, offset[i], caplen[i])
        size += end - begin
    return size


@compiled
def copy_blocks(
    data: UInt8s, has_options: Bools, offset: Int64s, caplen: Int64s, out: UInt8s, offsets: Int64s
) -> None:
    """Copy packets from a capture `data` to `out`.

    If the block of a packet has options, also copy the block's header and options.

    For each packet: `offset` in `data`, captured length, and whether its block `has_options`. In
    the copy, the header comes before the packet, and the options come after it. `offsets` receives
    the offsets of the packets in `out`, which must be large enough.
    """
    at = np.int64(0)
    for i in range(len(offset)):
        begin, end = offset[i], offset[i] + caplen[i]
        if has_options[i]:
            _, stop, _ = options_place(data, offset[i], caplen[i])
            if stop > 0:
                end = stop
            if begin >= HEADER:
                begin -= HEADER
        offsets[i] = at + offset[i] - begin
        for k in range(begin, end):
            out[at] = data[k]
            at += 1


@compiled
def write_blocks(
    data: UInt8s,
    has_options: Bools,
    offset: Int64s,
    caplen: Int64s,
    kept: Int64s,
    length: Int64s,
    interface: Int64s,
    ticks: Int64s,
    packet_id: Int64s,
    comments: tuple[Texts, ...],
    notes: Texts,
    original: bool,
    out: UInt8s,
    words: UInt32s,
) -> np.int64:
    """Write `kept` bytes of each packet at `offset` of `data`; return the number of bytes written.

    For each packet, offset + caplen must be within `data`. `has_options` says whether a packet is
    in a packet block of a pcapng file that can have options. `length` is the size on the wire.
    `interface` is a number in the new file. `ticks` is the time (ns) after the interface's
    if_tsoffset. `packet_id` is -1 if it is unknown. `comments` are the comments with kernel fields,
    part by part; `notes` are the user's comments ("": none). With `original`, the bytes are those
    of the source file; in this case, the block's comments, custom options and hashes may be copied.
    `words` is the array `out`, seen as 32-bit numbers. `out` and the data of `comments` have AHEAD
    more bytes than are needed.
    """
    at = np.int64(0)
    for i in range(len(offset)):
        start = at
        at = _put_words(words, at, BLOCK, np.int64(0))  # the size of the block is set at its end
        at = _put_words(words, at, interface[i], ticks[i] >> np.int64(32))
        at = _put_words(words, at, ticks[i], kept[i])
        words[np.uint64(at) >> np.uint64(2)] = np.uint32(length[i])
        at = _copy(data, offset[i], kept[i], out, at + 4)
        has_id = False
        if has_options[i]:
            changed = not original or kept[i] < caplen[i]
            at, has_id = _options(data, offset[i], caplen[i], changed, original, out, at)
        if notes.ends[i + 1] > notes.ends[i]:
            size = notes.ends[i + 1] - notes.ends[i]
            at = _foreign_comment(notes.data, notes.ends[i], size, out, at)
        for k in range(len(comments)):
            begin, end = comments[k].ends[i], comments[k].ends[i + 1]
            at = _our_comment(comments[k].data, begin, end, out, words, at)
        if packet_id[i] >= 0 and not has_id:
            at = _put_option(words, at, OPT_PACKETID, 8)
            at = _put_words(words, at, packet_id[i], packet_id[i] >> np.int64(32))
        size = at + 8 - start
        at = _put_words(words, at, OPT_END, size)
        words[np.uint64(start + 4) >> np.uint64(2)] = np.uint32(size)
    return at
