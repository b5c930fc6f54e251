# SPDX-License-Identifier: MIT
"""Layout of a .kbl file: dtypes, sizes, enums, constants.

Generated from kmod/kbl.h by kmod/gen_layout.py; do not edit.
kbl.h SHA-256: c3fb0c11e97e72a0f59a2d418eec9e2e9ccfeefba04d2707d5e2ef179416c4d9
"""

from __future__ import annotations

from enum import IntEnum

import numpy as np

KBL_MAGIC = 0x4B424C32
KBL_VERSION = 3
KBL_CHUNK_MAGIC = 0x4B434E4B
KBL_SLOT_SIZE = 32
KBL_MAX_EXT = 8
KBL_MAX_PAYLOAD = 67108864
KBL_CPU_RECORDER = 65534
KBL_MAX_FUNCTION = 65536
KBL_MAX_CODE = 33554432
KBL_MAX_CARRIERS = 4
KBL_MAX_CARRIED = 64
KBL_FLAG_TAIL_CALL = 1
KBL_FLAG_NO_CALLER = 2
KBL_FLAG_NULL_SKB = 4
KBL_FLAG_OPEN = 8
KBL_FLAG_SKB_IS_RET = 16
KBL_FLAG_MODULE_CALLER = 32
KBL_FLAG_EXT_LOST = 64
KBL_FLAG_SOCK = 128
KBL_SYSCALL_32BIT = 4294967296
KBL_AT_RET = 15
KBL_TAP_CONTENT = 1
KBL_TAP_CHECKSUM = 2
KBL_PROBE_INNER = 1
KBL_CODE_NO_END = 1


class KblChunkType(IntEnum):
    """enum kbl_chunk_type."""

    RECORDS = 1
    PROBES = 2
    SYMBOLS = 3
    STRINGS = 4
    CLOCK = 5
    COUNTERS = 6
    META = 7
    DEVICES = 8
    CALIBRATION = 9
    END = 10
    PAD = 11
    CODE = 12
    CODE_BYTES = 13


class KblKind(IntEnum):
    """enum kbl_kind."""

    ENTRY = 1
    EXIT = 2
    CALL = 3
    EVENT = 4
    LOST = 5
    EXT = 6


class KblContext(IntEnum):
    """enum kbl_context."""

    TASK = 0
    SOFTIRQ = 1
    HARDIRQ = 2
    NMI = 3


class KblEvent(IntEnum):
    """enum kbl_event."""

    ALLOC = 1
    CLONE = 2
    COPY = 3
    SEGMENT = 4
    FREE = 5
    CONSUME = 6
    DROP = 7
    TASK = 8
    GRO_MERGE = 9
    COALESCE = 10
    MORPH = 11
    DEFER_FREE = 12
    QDISC_ENQUEUE = 13
    QDISC_DEQUEUE = 14
    SOCK_ENQUEUE = 15
    COPY_TO_USER = 16
    RECEIVE = 17
    QUEUE = 18
    START_XMIT = 19
    XMIT = 20
    NAPI_POLL = 21
    SYSCALL_ENTRY = 22
    SYSCALL_EXIT = 23
    IRQ_ENTRY = 24
    IRQ_EXIT = 25
    SOFTIRQ_ENTRY = 26
    SOFTIRQ_EXIT = 27
    NEIGH = 28
    ADDR = 29
    ROUTE = 30
    LINK = 31
    MODULE = 32
    CLOCK_SET = 33
    FOOTPRINT = 34
    CARRY = 35
    NF_HOOK = 36
    SCHED_SWITCH = 37
    WAKE = 38
    LOCK_WAIT = 39
    LOCK_GOT = 40
    PAGE_FAULT = 41
    QUEUE_LENGTH = 42
    SOCK_LENGTH = 43


class KblLock(IntEnum):
    """enum kbl_lock."""

    SPIN = 1
    READ = 2
    WRITE = 4
    RT = 8
    PERCPU = 16
    MUTEX = 32


class KblChange(IntEnum):
    """enum kbl_change."""

    SET = 1
    GONE = 2


class KblLost(IntEnum):
    """enum kbl_lost."""

    BUFFER = 1
    MISSED = 2
    NESTED = 3


class KblExtType(IntEnum):
    """enum kbl_ext_type."""

    IPV4 = 1
    IPV6 = 2
    IPV6_L4 = 3
    SKB = 4
    CALL = 5
    COMM = 6
    COUNTER = 7
    DROP = 8
    ADDR = 9
    NEIGH = 10
    ROUTE = 11
    SYSCALL = 12
    TAP = 13
    STACK = 14


class KblCarrier(IntEnum):
    """enum kbl_carrier."""

    NONE = 0
    SKB = 1
    SKBP = 2
    LIST = 3
    QUEUE = 4
    SOCK = 5


class KblMechanism(IntEnum):
    """enum kbl_mechanism."""

    KRETPROBE = 1
    FPROBE = 2
    SOURCE = 3


# Number, word, what its data is, traits (kernel_events.py explains them).
KBL_EVENTS: tuple[tuple[int, str, str, tuple[str, ...]], ...] = (
    (1, "alloc", "data = size", ("birth",)),
    (2, "clone", "data = the new skb", ("birth", "child")),
    (3, "copy", "data = the new skb", ("birth", "child")),
    (4, "segment", "data = one new segment", ("birth", "child")),
    (5, "free", "memory given back; data = 0", ("free",)),
    (6, "consume", "consumed without loss; data as in DROP", ("release",)),
    (7, "drop", "data = reason (low 32) | location - _stext (high 32)", ("release",)),
    (8, "task", "skb = 0, data = tgid; KBL_EXT_COMM follows", ("aside", "describes")),
    (9, "gro_merge", "data = the skb merged into", ("late", "merged")),
    (10, "coalesce", "data = the skb merged into", ("late", "merged")),
    (11, "morph", "data = the skb whose content was taken", ("late",)),
    (12, "defer_free", "", ()),
    (13, "qdisc_enqueue", "data = handle | ifindex << 32", ()),
    (14, "qdisc_dequeue", "data as in QDISC_ENQUEUE", ()),
    (15, "sock_enqueue", "", ("late",)),
    (16, "copy_to_user", "data = bytes", ()),
    (17, "receive", "netif_receive_skb tracepoint", ()),
    (18, "queue", "net_dev_queue", ()),
    (19, "start_xmit", "net_dev_start_xmit", ()),
    (20, "xmit", "net_dev_xmit; data = return code", ("aside",)),
    (21, "napi_poll", "data = work | budget << 32; KBL_EXT_ADDR: the device", ()),
    (22, "syscall_entry", "data = number, and KBL_SYSCALL_32BIT", ()),
    (23, "syscall_exit", "data = return value", ()),
    (24, "irq_entry", "data = irq; KBL_EXT_COMM: its name, not each time", ("interrupt",)),
    (25, "irq_exit", "data = irq number | irqreturn_t << 32", ("interrupt",)),
    (26, "softirq_entry", "data = vector", ("interrupt",)),
    (27, "softirq_exit", "", ("interrupt",)),
    (28, "neigh", "NEIGH to MODULE: data = enum kbl_change | netns << 32", ("change",)),
    (29, "addr", "", ("change",)),
    (30, "route", "", ("change",)),
    (31, "link", "", ("change",)),
    (32, "module", "KBL_EXT_COMM: its name, 15 bytes a slot", ()),
    (33, "clock_set", "data = CLOCK_REALTIME - the file's clock from here on", ()),
    (34, "footprint", "skb's footprint for this CPU's next calls", ("aside", "describes")),
    (35, "carry", "skb = one more packet of the call entered at ts; see docs", ()),
    (36, "nf_hook", "data = hook | pf << 8 | (verdict + 1) << 16", ("late",)),
    (37, "sched_switch", "pid = who leaves; data = who comes | its state << 32", ()),
    (38, "wake", "data = the thread that is woken", ()),
    (39, "lock_wait", "data = lock (56 bits) | KBL_LOCK_* << 56", ("inside",)),
    (40, "lock_got", "data = lock (56 bits) | 1 << 56 if it gave up", ("inside",)),
    (41, "page_fault", "data = page's address | error code (12 bits)", ("inside",)),
    (42, "queue_length", "data = packets | bytes << 32; KBL_EXT_ADDR: which", ()),
    (43, "sock_length", "data as in QUEUE_LENGTH; of the SOCK_ENQUEUE before it", ()),
)


KBL_FILE_HEADER = np.dtype(
    [
        ("magic", "<u4"),
        ("version", "<u2"),
        ("header_len", "<u2"),
        ("ptr_size", "u1"),
        ("clock_id", "u1"),
        ("nr_cpus", "<u2"),
        ("flags", "<u4"),
        ("stext", "<u8"),
        ("start_mono_ns", "<u8"),
        ("start_real_ns", "<i8"),
        ("boot_id", "u1", (16,)),
        ("arch", "S16"),
        ("release", "S64"),
        ("hostname", "S64"),
    ]
)
KBL_FILE_HEADER_SIZE = 200

KBL_CHUNK_HEADER = np.dtype(
    [
        ("magic", "<u4"),
        ("type", "<u2"),
        ("cpu", "<u2"),
        ("seq", "<u8"),
        ("first_ns", "<u8"),
        ("last_ns", "<u8"),
        ("nr_items", "<u4"),
        ("payload_len", "<u4"),
        ("crc32", "<u4"),
        ("header_crc32", "<u4"),
    ]
)
KBL_CHUNK_HEADER_SIZE = 48

KBL_CALL_SLOT = np.dtype(
    [
        ("kind", "u1"),
        ("flags", "u1"),
        ("context", "u1"),
        ("ext", "u1"),
        ("func", "<u4"),
        ("ts", "<u8"),
        ("skb", "<u8"),
        ("caller", "<i4"),
        ("pid", "<u4"),
    ]
)
KBL_CALL_SLOT_SIZE = 32

KBL_SPAN_SLOT = np.dtype(
    [
        ("kind", "u1"),
        ("flags", "u1"),
        ("context", "u1"),
        ("ext", "u1"),
        ("func", "<u2"),
        ("entry_cpu", "<u2"),
        ("ts", "<u8"),
        ("skb", "<u8"),
        ("caller", "<i4"),
        ("dur", "<u4"),
    ]
)
KBL_SPAN_SLOT_SIZE = 32

KBL_EVENT_SLOT = np.dtype(
    [
        ("kind", "u1"),
        ("event", "u1"),
        ("context", "u1"),
        ("ext", "u1"),
        ("pid", "<u4"),
        ("ts", "<u8"),
        ("skb", "<u8"),
        ("data", "<u8"),
    ]
)
KBL_EVENT_SLOT_SIZE = 32

KBL_LOST_SLOT = np.dtype(
    [
        ("kind", "u1"),
        ("reason", "u1"),
        ("context", "u1"),
        ("ext", "u1"),
        ("func", "<u4"),
        ("ts", "<u8"),
        ("first_ns", "<u8"),
        ("count", "<u8"),
    ]
)
KBL_LOST_SLOT_SIZE = 32

KBL_EXT_IPV4 = np.dtype(
    [
        ("kind", "u1"),
        ("type", "u1"),
        ("protocol", "u1"),
        ("l4_valid", "u1"),
        ("ip_id", "<u2"),
        ("frag_off", "<u2"),
        ("saddr", "u1", (4,)),
        ("daddr", "u1", (4,)),
        ("sport", "<u2"),
        ("dport", "<u2"),
        ("seq", "<u4"),
        ("ack", "<u4"),
        ("tot_len", "<u2"),
        ("tcp_flags", "u1"),
        ("ttl", "u1"),
    ]
)
KBL_EXT_IPV4_SIZE = 32

KBL_EXT_IPV6 = np.dtype(
    [
        ("kind", "u1"),
        ("type", "u1"),
        ("nexthdr", "u1"),
        ("hop_limit", "u1"),
        ("flow_label", "<u4"),
        ("saddr_hi", "u1", (8,)),
        ("saddr_lo", "u1", (8,)),
        ("daddr_hi", "u1", (8,)),
    ]
)
KBL_EXT_IPV6_SIZE = 32

KBL_EXT_IPV6_L4 = np.dtype(
    [
        ("kind", "u1"),
        ("type", "u1"),
        ("l4_valid", "u1"),
        ("tcp_flags", "u1"),
        ("sport", "<u2"),
        ("dport", "<u2"),
        ("daddr_lo", "u1", (8,)),
        ("seq", "<u4"),
        ("ack", "<u4"),
        ("payload_len", "<u2"),
        ("frag_off", "<u2"),
        ("frag_id", "<u4"),
    ]
)
KBL_EXT_IPV6_L4_SIZE = 32

KBL_EXT_SKB = np.dtype(
    [
        ("kind", "u1"),
        ("type", "u1"),
        ("ethertype", "<u2"),
        ("ifindex", "<u4"),
        ("netns", "<u4"),
        ("len", "<u4"),
        ("mark", "<u4"),
        ("gso_size", "<u2"),
        ("gso_segs", "<u2"),
        ("sk", "<u8"),
    ]
)
KBL_EXT_SKB_SIZE = 32

KBL_EXT_CALL = np.dtype(
    [
        ("kind", "u1"),
        ("type", "u1"),
        ("pad", "<u2"),
        ("pad2", "<u4"),
        ("dur", "<u8"),
        ("ret", "<i8"),
        ("pad3", "<u8"),
    ]
)
KBL_EXT_CALL_SIZE = 32

KBL_EXT_COMM = np.dtype(
    [
        ("kind", "u1"),
        ("type", "u1"),
        ("pad", "<u2"),
        ("tid", "<u4"),
        ("comm", "S16"),
        ("pad2", "<u8"),
    ]
)
KBL_EXT_COMM_SIZE = 32

KBL_EXT_COUNTER = np.dtype(
    [
        ("kind", "u1"),
        ("type", "u1"),
        ("valid", "<u2"),
        ("event", "<u4"),
        ("count", "<u8"),
        ("pad", "<u8", (2,)),
    ]
)
KBL_EXT_COUNTER_SIZE = 32

KBL_EXT_DROP = np.dtype(
    [
        ("kind", "u1"),
        ("type", "u1"),
        ("hook", "<u2"),
        ("depth", "<u4"),
        ("stack", "<i4", (6,)),
    ]
)
KBL_EXT_DROP_SIZE = 32

KBL_EXT_STACK = np.dtype(
    [
        ("kind", "u1"),
        ("type", "u1"),
        ("pad", "<u2"),
        ("depth", "<u4"),
        ("stack", "<i4", (6,)),
    ]
)
KBL_EXT_STACK_SIZE = 32

KBL_EXT_ADDR = np.dtype(
    [
        ("kind", "u1"),
        ("type", "u1"),
        ("family", "u1"),
        ("prefix_len", "u1"),
        ("ifindex", "<u4"),
        ("addr", "u1", (16,)),
        ("netns", "<u4"),
        ("flags", "<u4"),
    ]
)
KBL_EXT_ADDR_SIZE = 32

KBL_EXT_NEIGH = np.dtype(
    [
        ("kind", "u1"),
        ("type", "u1"),
        ("family", "u1"),
        ("nud_state", "u1"),
        ("ifindex", "<u4"),
        ("addr", "u1", (16,)),
        ("lladdr", "u1", (6,)),
        ("pad", "<u2"),
    ]
)
KBL_EXT_NEIGH_SIZE = 32

KBL_EXT_ROUTE = np.dtype(
    [
        ("kind", "u1"),
        ("type", "u1"),
        ("family", "u1"),
        ("prefix_len", "u1"),
        ("ifindex", "<u4"),
        ("addr", "u1", (16,)),
        ("netns", "<u4"),
        ("table", "<u4"),
    ]
)
KBL_EXT_ROUTE_SIZE = 32

KBL_EXT_SYSCALL = np.dtype(
    [
        ("kind", "u1"),
        ("type", "u1"),
        ("family", "<u2"),
        ("fd", "<i4"),
        ("sk", "<u8"),
        ("args", "<u8", (2,)),
    ]
)
KBL_EXT_SYSCALL_SIZE = 32

KBL_EXT_TAP = np.dtype(
    [
        ("kind", "u1"),
        ("type", "u1"),
        ("pkt_type", "u1"),
        ("valid", "u1"),
        ("content", "<u4"),
        ("sk", "<u8"),
        ("checksum", "<u2"),
        ("ip_summed", "u1"),
        ("pad", "u1"),
        ("pad2", "<u4"),
        ("pad3", "<u8"),
    ]
)
KBL_EXT_TAP_SIZE = 32

KBL_PROBE = np.dtype(
    [
        ("addr", "<u8"),
        ("id", "<u4"),
        ("name", "<u4"),
        ("module", "<u4"),
        ("arg", "u1"),
        ("ret", "u1"),
        ("event", "u1"),
        ("mechanism", "u1"),
        ("error", "<i4"),
        ("carrier", "u1", (4,)),
        ("hits", "<u8"),
        ("missed", "<u8"),
        ("flags", "<u4"),
        ("pad", "<u4"),
    ]
)
KBL_PROBE_SIZE = 56

KBL_SYMBOL = np.dtype(
    [
        ("addr", "<u8"),
        ("name", "<u4"),
        ("module", "<u4"),
    ]
)
KBL_SYMBOL_SIZE = 16

KBL_CODE = np.dtype(
    [
        ("addr", "<u8"),
        ("offset", "<u4"),
        ("size", "<u4"),
        ("flags", "<u4"),
        ("pad", "<u4"),
    ]
)
KBL_CODE_SIZE = 24

KBL_CLOCK = np.dtype(
    [
        ("mono_ns", "<u8"),
        ("real_ns", "<i8"),
        ("boot_ns", "<u8"),
        ("uncertainty_ns", "<u8"),
    ]
)
KBL_CLOCK_SIZE = 32

KBL_COUNTERS = np.dtype(
    [
        ("mono_ns", "<u8"),
        ("written", "<u8"),
        ("lost", "<u8"),
        ("missed", "<u8"),
        ("null_skb", "<u8"),
        ("nested", "<u8"),
        ("bytes", "<u8"),
        ("filtered", "<u8"),
        ("open", "<u8"),
        ("unpaired", "<u8"),
        ("inner_outside", "<u8"),
        ("inner_missed", "<u8"),
        ("sample_broken", "<u8"),
    ]
)
KBL_COUNTERS_SIZE = 104

KBL_DEVICE = np.dtype(
    [
        ("ifindex", "<u4"),
        ("netns", "<u4"),
        ("name", "S16"),
    ]
)
KBL_DEVICE_SIZE = 24

KBL_CALIBRATION = np.dtype(
    [
        ("tau_empty", "<u8"),
        ("tau_pair", "<u8"),
        ("tau_nested", "<u8"),
        ("n_empty", "<u8"),
        ("n_pair", "<u8"),
        ("n_nested", "<u8"),
        ("tau_skb_pair", "<u8"),
        ("tau_skb_nested", "<u8"),
        ("mono_ns", "<u8"),
        ("rounds", "<u4"),
        ("mechanism", "<u4"),
        ("tau_skb_empty", "<u8"),
        ("n_skb_empty", "<u8"),
        ("n_skb_pair", "<u8"),
        ("n_skb_nested", "<u8"),
    ]
)
KBL_CALIBRATION_SIZE = 112

DTYPES: dict[str, np.dtype[np.void]] = {
    "kbl_file_header": KBL_FILE_HEADER,
    "kbl_chunk_header": KBL_CHUNK_HEADER,
    "kbl_call_slot": KBL_CALL_SLOT,
    "kbl_span_slot": KBL_SPAN_SLOT,
    "kbl_event_slot": KBL_EVENT_SLOT,
    "kbl_lost_slot": KBL_LOST_SLOT,
    "kbl_ext_ipv4": KBL_EXT_IPV4,
    "kbl_ext_ipv6": KBL_EXT_IPV6,
    "kbl_ext_ipv6_l4": KBL_EXT_IPV6_L4,
    "kbl_ext_skb": KBL_EXT_SKB,
    "kbl_ext_call": KBL_EXT_CALL,
    "kbl_ext_comm": KBL_EXT_COMM,
    "kbl_ext_counter": KBL_EXT_COUNTER,
    "kbl_ext_drop": KBL_EXT_DROP,
    "kbl_ext_stack": KBL_EXT_STACK,
    "kbl_ext_addr": KBL_EXT_ADDR,
    "kbl_ext_neigh": KBL_EXT_NEIGH,
    "kbl_ext_route": KBL_EXT_ROUTE,
    "kbl_ext_syscall": KBL_EXT_SYSCALL,
    "kbl_ext_tap": KBL_EXT_TAP,
    "kbl_probe": KBL_PROBE,
    "kbl_symbol": KBL_SYMBOL,
    "kbl_code": KBL_CODE,
    "kbl_clock": KBL_CLOCK,
    "kbl_counters": KBL_COUNTERS,
    "kbl_device": KBL_DEVICE,
    "kbl_calibration": KBL_CALIBRATION,
}


def in_order(dtype: np.dtype[np.void], order: str) -> np.dtype[np.void]:
    """Return ``dtype`` for a file of byte order ``order``: "<" or ">"."""
    return dtype if order == "<" else dtype.newbyteorder(">")
