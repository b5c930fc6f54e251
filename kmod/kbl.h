/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * The kernel behaviour log (KBL): THE layout of a .kbl file.
 *
 * The module writes slots, kblrecord puts them into chunks and adds tables, and Python reads
 * them (gen_layout.py turns this file into skbviewer/records/kbl_layout.py).  All structs are
 * naturally aligned.  All fields have a fixed width and the byte order of the recording
 * machine; the magic shows that order.  Addresses in footprints are bytes in network byte
 * order, as in the packet; all other fields of a footprint are numbers in host byte order.
 *
 * File:   struct kbl_file_header, then chunks until end of file.
 *
 * Chunk:  struct kbl_chunk_header, then payload_len bytes (a multiple of 8).
 *
 * Record: one head slot and `ext` EXT slots, KBL_SLOT_SIZE bytes each; a record never spans two
 * chunks.
 *
 * Version 1 is the 32-bit record of the 2010 system.  Version 2 wrote ENTRY and EXIT with a
 * footprint on each; 3, defined here, writes one CALL when a function returns and a footprint
 * only when it changed.
 */
#ifndef KBL_H
#define KBL_H

#ifdef __KERNEL__
#include <linux/types.h>
typedef __u8 kbl_u8;
typedef __u16 kbl_u16;
typedef __u32 kbl_u32;
typedef __u64 kbl_u64;
typedef __s32 kbl_s32;
typedef __s64 kbl_s64;
#else
#include <stdint.h>
typedef uint8_t kbl_u8;
typedef uint16_t kbl_u16;
typedef uint32_t kbl_u32;
typedef uint64_t kbl_u64;
typedef int32_t kbl_s32;
typedef int64_t kbl_s64;
#endif

#define KBL_MAGIC 0x4b424c32	/* "2LBK" in a little-endian file, "KBL2" in a big-endian one */
#define KBL_VERSION 3
#define KBL_CHUNK_MAGIC 0x4b434e4b
#define KBL_SLOT_SIZE 32
#define KBL_MAX_EXT 8
#define KBL_MAX_PAYLOAD 0x4000000	/* 64 MiB: a larger payload_len is garbage */

#define KBL_CPU_RECORDER 0xfffe	/* not a CPU: records that kblrecord adds */

#define KBL_MAX_FUNCTION 0x10000	/* bytes of code of one function */
#define KBL_MAX_CODE 0x2000000	/* 32 MiB: bytes of code of all functions */

#define KBL_MAX_CARRIERS 4
#define KBL_MAX_CARRIED 64	/* packets recorded of one list or queue */

/* Contents of a chunk (struct kbl_chunk_header.type). */
enum kbl_chunk_type {
	KBL_CHUNK_RECORDS = 1,		/* slots of one CPU, in the order written */
	KBL_CHUNK_PROBES = 2,		/* struct kbl_probe[] */
	KBL_CHUNK_SYMBOLS = 3,		/* struct kbl_symbol[], sorted by address */
	KBL_CHUNK_STRINGS = 4,		/* NUL-terminated; offset 0 is "" */
	KBL_CHUNK_CLOCK = 5,		/* one struct kbl_clock */
	KBL_CHUNK_COUNTERS = 6,		/* one struct kbl_counters */
	KBL_CHUNK_META = 7,		/* "key=value\n" text, see kbl-format.md */
	KBL_CHUNK_DEVICES = 8,		/* struct kbl_device[] */
	KBL_CHUNK_CALIBRATION = 9,	/* one struct kbl_calibration */
	KBL_CHUNK_END = 10,		/* clean stop; no payload */
	KBL_CHUNK_PAD = 11,		/* zeros, so that the next chunk begins at a disk block */
	KBL_CHUNK_CODE = 12,		/* struct kbl_code[], optional */
	KBL_CHUNK_CODE_BYTES = 13	/* machine code that struct kbl_code refers to */
};

/* First byte of a slot. */
enum kbl_kind {
	KBL_ENTRY = 1,		/* struct kbl_call_slot: a probed function began */
	KBL_EXIT = 2,		/* struct kbl_call_slot: it returned */
	KBL_CALL = 3,		/* struct kbl_span_slot: entry and exit in one, written at exit */
	KBL_EVENT = 4,		/* struct kbl_event_slot */
	KBL_LOST = 5,		/* struct kbl_lost_slot */
	KBL_EXT = 6		/* struct kbl_ext_*: belongs to the head slot before it */
};

/* flags of ENTRY, EXIT and CALL */
#define KBL_FLAG_TAIL_CALL 0x01	/* reached by a jump: caller is the frame returned to */
#define KBL_FLAG_NO_CALLER 0x02	/* caller is unknown */
#define KBL_FLAG_NULL_SKB 0x04	/* the skb argument was NULL */
#define KBL_FLAG_OPEN 0x08	/* ENTRY written at stop: the call had not returned */
#define KBL_FLAG_SKB_IS_RET 0x10	/* EXIT: skb is the return value */
#define KBL_FLAG_MODULE_CALLER 0x20	/* caller is a symbol table index, not an offset */
#define KBL_FLAG_EXT_LOST 0x40	/* the footprint could not be read */
#define KBL_FLAG_SOCK 0x80	/* skb holds the address of a struct sock */

enum kbl_context {
	KBL_CTX_TASK = 0,
	KBL_CTX_SOFTIRQ = 1,
	KBL_CTX_HARDIRQ = 2,
	KBL_CTX_NMI = 3
};

/*
 * What happened to an skb, or beside it (struct kbl_event_slot.event).
 * In brackets: the event's traits, which skbviewer/records/kernel_events.py explains.
 */
enum kbl_event {
	KBL_EV_ALLOC = 1,	/* [birth] data = size */
	KBL_EV_CLONE = 2,	/* [birth child] data = the new skb */
	KBL_EV_COPY = 3,	/* [birth child] data = the new skb */
	KBL_EV_SEGMENT = 4,	/* [birth child] data = one new segment */
	KBL_EV_FREE = 5,	/* [free] memory given back; data = 0 */
	KBL_EV_CONSUME = 6,	/* [release] consumed without loss; data as in DROP */
	KBL_EV_DROP = 7,	/* [release] data = reason (low 32) | location - _stext (high 32) */
	KBL_EV_TASK = 8,	/* [aside describes] skb = 0, data = tgid; KBL_EXT_COMM follows */
	KBL_EV_GRO_MERGE = 9,	/* [late merged] data = the skb merged into */
	KBL_EV_COALESCE = 10,	/* [late merged] data = the skb merged into */
	KBL_EV_MORPH = 11,	/* [late] data = the skb whose content was taken */
	KBL_EV_DEFER_FREE = 12,
	KBL_EV_QDISC_ENQUEUE = 13,	/* data = handle | ifindex << 32 */
	KBL_EV_QDISC_DEQUEUE = 14,	/* data as in QDISC_ENQUEUE */
	KBL_EV_SOCK_ENQUEUE = 15,	/* [late] */
	KBL_EV_COPY_TO_USER = 16,	/* data = bytes */
	KBL_EV_RECEIVE = 17,	/* netif_receive_skb tracepoint */
	KBL_EV_QUEUE = 18,	/* net_dev_queue */
	KBL_EV_START_XMIT = 19,	/* net_dev_start_xmit */
	KBL_EV_XMIT = 20,	/* [aside] net_dev_xmit; data = return code */
	KBL_EV_NAPI_POLL = 21,	/* data = work | budget << 32; KBL_EXT_ADDR: the device */
	KBL_EV_SYSCALL_ENTRY = 22,	/* data = number, and KBL_SYSCALL_32BIT */
	KBL_EV_SYSCALL_EXIT = 23,	/* data = return value */
	KBL_EV_IRQ_ENTRY = 24,	/* [interrupt] data = irq; KBL_EXT_COMM: its name, not each time */
	KBL_EV_IRQ_EXIT = 25,	/* [interrupt] data = irq number | irqreturn_t << 32 */
	KBL_EV_SOFTIRQ_ENTRY = 26,	/* [interrupt] data = vector */
	KBL_EV_SOFTIRQ_EXIT = 27,	/* [interrupt] */
	KBL_EV_NEIGH = 28,	/* [change] NEIGH to MODULE: data = enum kbl_change | netns << 32 */
	KBL_EV_ADDR = 29,	/* [change] */
	KBL_EV_ROUTE = 30,	/* [change] */
	KBL_EV_LINK = 31,	/* [change] */
	KBL_EV_MODULE = 32,	/* KBL_EXT_COMM: its name, 15 bytes a slot */
	KBL_EV_CLOCK_SET = 33,	/* data = CLOCK_REALTIME - the file's clock from here on */
	KBL_EV_FOOTPRINT = 34,	/* [aside describes] skb's footprint for this CPU's next calls */
	KBL_EV_CARRY = 35,	/* skb = one more packet of the call entered at ts; see docs */
	KBL_EV_NF_HOOK = 36,	/* [late] data = hook | pf << 8 | (verdict + 1) << 16 */
	KBL_EV_SCHED_SWITCH = 37,	/* pid = who leaves; data = who comes | its state << 32 */
	KBL_EV_WAKE = 38,	/* data = the thread that is woken */
	KBL_EV_LOCK_WAIT = 39,	/* [inside] data = lock (56 bits) | KBL_LOCK_* << 56 */
	KBL_EV_LOCK_GOT = 40,	/* [inside] data = lock (56 bits) | 1 << 56 if it gave up */
	KBL_EV_PAGE_FAULT = 41,	/* [inside] data = page's address | error code (12 bits) */
	KBL_EV_QUEUE_LENGTH = 42,	/* data = packets | bytes << 32; KBL_EXT_ADDR: which */
	KBL_EV_SOCK_LENGTH = 43	/* data as in QUEUE_LENGTH; of the SOCK_ENQUEUE before it */
};

/* In a SYSCALL_ENTRY's data: a call of a 32-bit program on a 64-bit kernel. */
#define KBL_SYSCALL_32BIT 0x100000000	/* its number is another table's */

/* How a thread waits for a lock: bits 56 to 63 of a LOCK_WAIT's data. */
enum kbl_lock {
	KBL_LOCK_SPIN = 1,	/* it spins; otherwise it sleeps */
	KBL_LOCK_READ = 2,	/* to share the lock */
	KBL_LOCK_WRITE = 4,
	KBL_LOCK_RT = 8,
	KBL_LOCK_PERCPU = 16,
	KBL_LOCK_MUTEX = 32
};

/* Change of a table's entry. */
enum kbl_change {
	KBL_CHANGE_SET = 1,	/* the entry exists from here on, new or changed */
	KBL_CHANGE_GONE = 2
};

/* Why records are missing (struct kbl_lost_slot.reason). */
enum kbl_lost {
	KBL_LOST_BUFFER = 1,	/* sub-buffers full: the reader was too slow */
	KBL_LOST_MISSED = 2,	/* the kernel's probe missed hits, on any CPU */
	KBL_LOST_NESTED = 3	/* a probe fired while another record was written */
};

/* struct kbl_ext_*.type */
enum kbl_ext_type {
	KBL_EXT_IPV4 = 1,
	KBL_EXT_IPV6 = 2,	/* two slots: addresses, then KBL_EXT_IPV6_L4 */
	KBL_EXT_IPV6_L4 = 3,
	KBL_EXT_SKB = 4,
	KBL_EXT_CALL = 5,
	KBL_EXT_COMM = 6,
	KBL_EXT_COUNTER = 7,
	KBL_EXT_DROP = 8,	/* one or more: six addresses each */
	KBL_EXT_ADDR = 9,
	KBL_EXT_NEIGH = 10,
	KBL_EXT_ROUTE = 11,	/* then KBL_EXT_ADDR with the gateway, if there is one */
	KBL_EXT_SYSCALL = 12,
	KBL_EXT_TAP = 13,
	KBL_EXT_STACK = 14	/* one or more: six addresses each */
};

/* struct kbl_probe.carrier: kind << 4 | index of the argument, KBL_AT_RET = return value. */
enum kbl_carrier {
	KBL_CARRY_NONE = 0,
	KBL_CARRY_SKB = 1,	/* struct sk_buff * */
	KBL_CARRY_SKBP = 2,	/* struct sk_buff ** */
	KBL_CARRY_LIST = 3,	/* struct list_head * of skbs */
	KBL_CARRY_QUEUE = 4,	/* struct sk_buff_head * */
	KBL_CARRY_SOCK = 5	/* struct sock * */
};

#define KBL_AT_RET 15

enum kbl_mechanism {
	KBL_BY_KRETPROBE = 1,
	KBL_BY_FPROBE = 2,
	KBL_BY_SOURCE = 3	/* compiled into the kernel by "skbscan instrument" */
};

struct kbl_file_header {
	kbl_u32 magic;
	kbl_u16 version;
	kbl_u16 header_len;	/* size of this struct; readers skip what they do not know */
	kbl_u8 ptr_size;	/* 4 or 8 */
	kbl_u8 clock_id;	/* 1 = CLOCK_MONOTONIC, by ktime_get_mono_fast_ns() */
	kbl_u16 nr_cpus;
	kbl_u32 flags;		/* 0 */
	kbl_u64 stext;		/* address of _stext in this boot */
	kbl_u64 start_mono_ns;
	kbl_s64 start_real_ns;	/* CLOCK_REALTIME at start_mono_ns */
	kbl_u8 boot_id[16];
	char arch[16];		/* uname -m */
	char release[64];	/* uname -r */
	char hostname[64];
};

struct kbl_chunk_header {
	kbl_u32 magic;
	kbl_u16 type;		/* enum kbl_chunk_type */
	kbl_u16 cpu;		/* RECORDS: number or KBL_CPU_RECORDER, else 0xffff */
	kbl_u64 seq;		/* per CPU for RECORDS, else per file; from 0, without gaps */
	kbl_u64 first_ns;	/* RECORDS: when the first and last record were written: ts, */
	kbl_u64 last_ns;	/* for a CALL the time of its end */
	kbl_u32 nr_items;	/* head slots, or structs of a table */
	kbl_u32 payload_len;	/* bytes after this header, a multiple of 8 */
	kbl_u32 crc32;		/* IEEE 802.3 CRC of the payload */
	kbl_u32 header_crc32;	/* of this header up to here */
};

/*
 * ENTRY and EXIT.  Version 3 writes them only for a call still open at stop (ENTRY,
 * KBL_FLAG_OPEN), or if too many calls were open at the same time.
 */
struct kbl_call_slot {
	kbl_u8 kind;
	kbl_u8 flags;
	kbl_u8 context;		/* enum kbl_context */
	kbl_u8 ext;		/* EXT slots that follow */
	kbl_u32 func;		/* probe id */
	kbl_u64 ts;		/* ns on the file's clock */
	kbl_u64 skb;		/* address of the struct sk_buff; EXIT: as at entry */
	kbl_s32 caller;		/* return address - _stext; EXIT: low 32 bits of the return value */
	kbl_u32 pid;		/* thread id as seen in the initial pid namespace */
};

/*
 * CALL.  Its thread is in the last KBL_EV_TASK before it on this CPU.  Its footprint is in the
 * last KBL_EV_FOOTPRINT of this skb at or before ts, on the CPU of the entry.  No two records
 * of a CPU have the same time, so (CPU of the entry, ts) identifies the call.
 */
struct kbl_span_slot {
	kbl_u8 kind;
	kbl_u8 flags;
	kbl_u8 context;		/* at the entry */
	kbl_u8 ext;
	kbl_u16 func;		/* probe id */
	kbl_u16 entry_cpu;	/* the chunk's CPU is that of the exit */
	kbl_u64 ts;		/* of the entry */
	kbl_u64 skb;
	kbl_s32 caller;
	kbl_u32 dur;		/* ns; 0xffffffff: see KBL_EXT_CALL */
};

struct kbl_event_slot {
	kbl_u8 kind;
	kbl_u8 event;		/* enum kbl_event */
	kbl_u8 context;
	kbl_u8 ext;
	kbl_u32 pid;
	kbl_u64 ts;
	kbl_u64 skb;
	kbl_u64 data;		/* see enum kbl_event */
};

struct kbl_lost_slot {
	kbl_u8 kind;
	kbl_u8 reason;		/* enum kbl_lost */
	kbl_u8 context;
	kbl_u8 ext;
	kbl_u32 func;		/* MISSED: probe id, 0xffffffff = of any; else 0xffffffff */
	kbl_u64 ts;		/* end of the gap */
	kbl_u64 first_ns;	/* begin of the gap */
	kbl_u64 count;		/* records lost */
};

/* The packet's IPv4 header and its transport header. */
struct kbl_ext_ipv4 {
	kbl_u8 kind;		/* KBL_EXT */
	kbl_u8 type;		/* KBL_EXT_IPV4 */
	kbl_u8 protocol;
	kbl_u8 l4_valid;	/* 1: ports (or ICMP type, id, seq) below are read */
	kbl_u16 ip_id;		/* number */
	kbl_u16 frag_off;	/* flags and offset as in struct iphdr, number */
	kbl_u8 saddr[4];
	kbl_u8 daddr[4];
	kbl_u16 sport;		/* ICMP: type << 8 | code */
	kbl_u16 dport;		/* ICMP: id */
	kbl_u32 seq;		/* TCP; ICMP: seq */
	kbl_u32 ack;
	kbl_u16 tot_len;	/* of the IP header; 0 for a GSO skb over 64 KiB */
	kbl_u8 tcp_flags;	/* byte 13 of the TCP header */
	kbl_u8 ttl;
};

struct kbl_ext_ipv6 {
	kbl_u8 kind;
	kbl_u8 type;
	kbl_u8 nexthdr;		/* after the extension headers */
	kbl_u8 hop_limit;
	kbl_u32 flow_label;
	kbl_u8 saddr_hi[8];
	kbl_u8 saddr_lo[8];
	kbl_u8 daddr_hi[8];
};

struct kbl_ext_ipv6_l4 {
	kbl_u8 kind;
	kbl_u8 type;
	kbl_u8 l4_valid;
	kbl_u8 tcp_flags;
	kbl_u16 sport;
	kbl_u16 dport;
	kbl_u8 daddr_lo[8];
	kbl_u32 seq;
	kbl_u32 ack;
	kbl_u16 payload_len;
	kbl_u16 frag_off;	/* of a fragment, as in struct iphdr; 0 = none */
	kbl_u32 frag_id;
};

/* Where the skb is; first in every footprint. */
struct kbl_ext_skb {
	kbl_u8 kind;
	kbl_u8 type;
	kbl_u16 ethertype;	/* ntohs(skb->protocol), 0 if not yet set */
	kbl_u32 ifindex;	/* of skb->dev, 0 = none */
	kbl_u32 netns;		/* inode number of the namespace, 0 = unknown */
	kbl_u32 len;		/* when recorded; headers pushed or pulled later do not count */
	kbl_u32 mark;
	kbl_u16 gso_size;
	kbl_u16 gso_segs;
	kbl_u64 sk;		/* skb->sk */
};

/* On a CALL whose return value is not 0 (and not void), or whose dur needs 64 bits. */
struct kbl_ext_call {
	kbl_u8 kind;
	kbl_u8 type;
	kbl_u16 pad;
	kbl_u32 pad2;
	kbl_u64 dur;		/* ns */
	kbl_s64 ret;		/* KBL_FLAG_SKB_IS_RET: the skb returned */
	kbl_u64 pad3;
};

struct kbl_ext_comm {
	kbl_u8 kind;
	kbl_u8 type;
	kbl_u16 pad;
	kbl_u32 tid;
	char comm[16];
	kbl_u64 pad2;
};

struct kbl_ext_counter {
	kbl_u8 kind;
	kbl_u8 type;
	kbl_u16 valid;		/* 0: the call migrated */
	kbl_u32 event;
	kbl_u64 count;
	kbl_u64 pad[2];
};

struct kbl_ext_drop {
	kbl_u8 kind;
	kbl_u8 type;
	kbl_u16 hook;		/* netfilter: hook | pf << 8 | 0x8000, 0 = in none */
	kbl_u32 depth;		/* of the whole stack; callers first to last, six a slot */
	kbl_s32 stack[6];	/* offsets from _stext, 0 = none */
};

/* On a LOCK_WAIT: the callers of the function that waits. */
struct kbl_ext_stack {
	kbl_u8 kind;
	kbl_u8 type;
	kbl_u16 pad;
	kbl_u32 depth;		/* of the whole stack; callers first to last, six a slot */
	kbl_s32 stack[6];	/* offsets from _stext, 0 = none */
};

/*
 * KBL_EV_ADDR, KBL_EV_ROUTE's gateway; without address on KBL_EV_NAPI_POLL, on
 * KBL_EV_QUEUE_LENGTH, whose flags are the queueing discipline's handle, and on KBL_EV_LINK,
 * where KBL_EXT_COMM with the device's name follows.
 */
struct kbl_ext_addr {
	kbl_u8 kind;
	kbl_u8 type;
	kbl_u8 family;		/* AF_INET, AF_INET6, 0 = none */
	kbl_u8 prefix_len;
	kbl_u32 ifindex;
	kbl_u8 addr[16];	/* IPv4: the first four bytes */
	kbl_u32 netns;
	kbl_u32 flags;		/* IFF_* of the device */
};

struct kbl_ext_neigh {
	kbl_u8 kind;
	kbl_u8 type;
	kbl_u8 family;
	kbl_u8 nud_state;	/* NUD_* of linux/neighbour.h */
	kbl_u32 ifindex;
	kbl_u8 addr[16];
	kbl_u8 lladdr[6];
	kbl_u16 pad;
};

struct kbl_ext_route {
	kbl_u8 kind;
	kbl_u8 type;
	kbl_u8 family;
	kbl_u8 prefix_len;
	kbl_u32 ifindex;	/* out, 0 = none */
	kbl_u8 addr[16];	/* destination */
	kbl_u32 netns;
	kbl_u32 table;
};

/* KBL_EV_SYSCALL_ENTRY of the group syscall; a socket call's arguments as passed. */
struct kbl_ext_syscall {
	kbl_u8 kind;
	kbl_u8 type;
	kbl_u16 family;		/* of the socket, 0 = unknown */
	kbl_s32 fd;		/* -1 = none */
	kbl_u64 sk;		/* struct sock, 0 = unknown */
	kbl_u64 args[2];	/* connect, bind: the sockaddr's first 16 bytes; else args 1, 2 */
};

/* struct kbl_ext_tap.valid */
#define KBL_TAP_CONTENT 1
#define KBL_TAP_CHECKSUM 2

/*
 * On a CALL of a packet socket's function (tpacket_rcv, packet_rcv, packet_rcv_spkt): what the
 * socket was given, which is what a sniffer captures.
 */
struct kbl_ext_tap {
	kbl_u8 kind;
	kbl_u8 type;
	kbl_u8 pkt_type;	/* skb->pkt_type: PACKET_OUTGOING, PACKET_HOST, ... */
	kbl_u8 valid;		/* KBL_TAP_* */
	kbl_u32 content;	/* hash of the bytes after the IP header, see kbl-format.md */
	kbl_u64 sk;		/* the packet socket, 0 = unknown */
	kbl_u16 checksum;	/* checksum in the transport header, as in the packet */
	kbl_u8 ip_summed;	/* skb->ip_summed: CHECKSUM_* */
	kbl_u8 pad;
	kbl_u32 pad2;
	kbl_u64 pad3;
};

/* struct kbl_probe.flags */
#define KBL_PROBE_INNER 1	/* no skb: recorded only inside a recorded call of its thread */

struct kbl_probe {
	kbl_u64 addr;		/* 0: not armed */
	kbl_u32 id;
	kbl_u32 name;		/* offset in STRINGS */
	kbl_u32 module;		/* offset in STRINGS, 0 = the kernel */
	kbl_u8 arg;		/* index of the skb argument, 0xff = none */
	kbl_u8 ret;		/* 1: returns an skb */
	kbl_u8 event;		/* enum kbl_event it stands for, 0 = none */
	kbl_u8 mechanism;	/* enum kbl_mechanism, 0 = not armed */
	kbl_s32 error;		/* why not armed, negative errno */
	kbl_u8 carrier[KBL_MAX_CARRIERS];
	kbl_u64 hits;		/* of an inner function: only those recorded */
	kbl_u64 missed;		/* of an inner function: 0, see kbl_counters */
	kbl_u32 flags;		/* KBL_PROBE_* */
	kbl_u32 pad;
};

struct kbl_symbol {
	kbl_u64 addr;
	kbl_u32 name;		/* offset in STRINGS */
	kbl_u32 module;
};

/* struct kbl_code.flags */
#define KBL_CODE_NO_END 1	/* the end of the function is unknown: size is an upper bound */

/* Machine code of a function as it was in memory when the recording started. */
struct kbl_code {
	kbl_u64 addr;
	kbl_u32 offset;		/* in CODE_BYTES */
	kbl_u32 size;		/* bytes up to the next symbol, including padding */
	kbl_u32 flags;		/* KBL_CODE_* */
	kbl_u32 pad;
};

struct kbl_clock {
	kbl_u64 mono_ns;
	kbl_s64 real_ns;
	kbl_u64 boot_ns;
	kbl_u64 uncertainty_ns;	/* the three were read within this span */
};

struct kbl_counters {
	kbl_u64 mono_ns;
	kbl_u64 written;	/* records (head slots) */
	kbl_u64 lost;		/* buffers full */
	kbl_u64 missed;		/* kretprobe nmissed, all probes */
	kbl_u64 null_skb;
	kbl_u64 nested;		/* hits refused because a probe was already running here */
	kbl_u64 bytes;		/* of records written */
	kbl_u64 filtered;	/* hits the filter refused */
	kbl_u64 open;		/* calls that had not returned */
	kbl_u64 unpaired;	/* calls written as ENTRY and EXIT: too many were open */
	kbl_u64 inner_outside;	/* hits of inner functions outside of recorded calls */
	kbl_u64 inner_missed;	/* hits of inner functions that were not looked at, or lost */
	kbl_u64 sample_broken;	/* signs that sampled packets were segmented, merged, rewritten */
};

struct kbl_device {
	kbl_u32 ifindex;
	kbl_u32 netns;
	char name[16];
};

/*
 * What the probes cost (NetSlice's tau and n values): in ns, or in events of the counter; 0 =
 * not measured.  A call that was measured as T' and has K probed calls below it, at all levels,
 * took T' - empty - K * nested.
 */
struct kbl_calibration {
	kbl_u64 tau_empty;	/* measured duration of a call that does nothing */
	kbl_u64 tau_pair;	/* time that probing a call adds to its caller */
	kbl_u64 tau_nested;	/* time that a probed call below adds to a probed call */
	kbl_u64 n_empty;
	kbl_u64 n_pair;
	kbl_u64 n_nested;
	kbl_u64 tau_skb_pair;	/* as tau_pair, for a call that carries a TCP packet */
	kbl_u64 tau_skb_nested;
	kbl_u64 mono_ns;	/* when measured */
	kbl_u32 rounds;
	kbl_u32 mechanism;	/* enum kbl_mechanism */
	kbl_u64 tau_skb_empty;
	kbl_u64 n_skb_empty;
	kbl_u64 n_skb_pair;
	kbl_u64 n_skb_nested;
};

#endif /* KBL_H */
