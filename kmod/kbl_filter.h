/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The filter: a text in a subset of pcap-filter(7) is compiled to a bounded postfix program. The
 * program is evaluated in three-valued logic, since parts of a packet may be unknown. Words,
 * parser, evaluator and table use only the few names of the kernel that kbl_shim.h defines, too.
 * So they are also tested in user space.
 */
#ifndef KBL_FILTER_H
#define KBL_FILTER_H

#ifdef __KERNEL__
#include <linux/atomic.h>
#include <linux/errno.h>
#include <linux/inet.h>
#include <linux/kernel.h>
#include <linux/kprobes.h>
#include <linux/string.h>
#include <linux/types.h>
#else
#include "kbl_shim.h"
#endif

#include "kbl.h"

#define KBL_FILTER_TEXT 1024	/* with the final NUL */
#define KBL_FILTER_OPS 64
#define KBL_FILTER_DEPTH 30	/* two bits each in a u64 */
#define KBL_FILTER_NAME 16	/* IFNAMSIZ */

/* In this order AND is the minimum, OR the maximum, NOT the mirror image. */
enum kbl_verdict {
	KBL_NO = 0,
	KBL_UNKNOWN = 1,
	KBL_YES = 2
};

enum kbl_filter_code {
	KBL_OP_NOT = 1,
	KBL_OP_AND,
	KBL_OP_OR,
	KBL_OP_LAYER3,		/* ip, ip6, arp, rarp */
	KBL_OP_PROTO,		/* protocol that an IP packet carries */
	KBL_OP_NET,		/* an address or prefix */
	KBL_OP_PORT,
	KBL_OP_DEV,
	KBL_OP_NETNS,
	KBL_OP_MARK,
	KBL_OP_PID,
	KBL_OP_SAMPLE,		/* one connection in N */
	KBL_OP_SAMPLE_PACKETS	/* one packet in N */
};

/* The network layer of a packet, or the one that an operation asks for. */
enum kbl_layer3 {
	KBL_L3_UNKNOWN = 0,	/* in an operation: any */
	KBL_L3_IPV4,
	KBL_L3_IPV6,
	KBL_L3_IP,		/* IPv4 or IPv6: an unconnected IPv6 socket */
	KBL_L3_ARP,
	KBL_L3_RARP,
	KBL_L3_OTHER,
	KBL_L3_FOREIGN		/* a socket without IP: AF_UNIX, AF_NETLINK; always refused */
};

enum kbl_direction {
	KBL_DIR_EITHER = 0,
	KBL_DIR_SRC,
	KBL_DIR_DST,
	KBL_DIR_BOTH,
	KBL_DIR_SAID_EITHER	/* "src or dst" was written; in an operation EITHER */
};

struct kbl_filter_op {
	u8 code;		/* enum kbl_filter_code */
	u8 dir;			/* NET, PORT: enum kbl_direction */
	u8 layer3;		/* LAYER3, PROTO, NET */
	u8 protocol;		/* PROTO; PORT: 0 = any that has ports */
	u8 version;		/* NET: IP version of the address */
	u8 prefix_len;		/* NET */
	u16 pad;
	union {
		u8 addr[16];
		char name[KBL_FILTER_NAME];
		struct {
			u32 low;	/* PORT; NETNS, MARK, PID: the value; SAMPLE*: N */
			u32 high;	/* PORT: last one; MARK: the mask; SAMPLE*: seed */
		};
	};
};

struct kbl_filter_program {
	u32 nops;		/* 0: everything passes */
	bool wants_dev;		/* the program uses DEV, so the name must be read */
	bool wants_task;	/* the program uses PID, so the verdict depends on the thread */
	bool by_packet;		/* it uses SAMPLE_PACKETS: what is unknown is refused */
	struct kbl_filter_op ops[KBL_FILTER_OPS];
};

/* Why a text was refused: the word at text[at..at + len). */
struct kbl_filter_error {
	const char *why;
	u32 at;
	u32 len;
};

/* An address or port on one side of a packet. */
struct kbl_filter_end {
	u8 addr[16];		/* IPv4: the first four bytes */
	u16 port;
	bool addr_known;
	bool port_known;
};

/*
 * What distinguishes a packet from others between the same ends.  Known once the kernel has
 * written all headers, unless the skb has several packets.
 */
struct kbl_filter_number {
	bool known;
	bool fragment;		/* of IPv6: the protocol is not used */
	bool whole;		/* never cut into fragments: ports and the fields below are used */
	u32 id;			/* IPv4's, or that of an IPv6 fragment */
	u32 len;		/* as in the IP header */
	u32 seq;
	u32 ack;
};

/* Everything known of a packet, or of a socket, at this time. */
struct kbl_filter_facts {
	u8 layer3;		/* enum kbl_layer3 */
	bool protocol_known;
	u8 protocol;
	bool directed;		/* false: src and dst may be swapped */
	struct kbl_filter_end src;
	struct kbl_filter_end dst;
	bool mark_known;
	bool dev_known;
	u32 mark;
	u32 netns;		/* 0 = unknown */
	u32 tid;
	u32 tgid;
	char dev[KBL_FILTER_NAME];
	struct kbl_filter_number number;
};

/* The fields read from a struct sock. */
struct kbl_filter_sock {
	u16 family;
	u16 protocol;
	u8 state;
	u16 num;		/* local port, number */
	u16 dport;		/* remote port, number */
	u8 local4[4];
	u8 remote4[4];
	u8 local6[16];
	u8 remote6[16];
};

/* kbl_filter_words.c */
enum kbl_token {
	KBL_TOK_END,
	KBL_TOK_OPEN,
	KBL_TOK_CLOSE,
	KBL_TOK_NOT,
	KBL_TOK_AND,
	KBL_TOK_OR,
	KBL_TOK_PROTO,		/* value: enum kbl_qual_proto */
	KBL_TOK_DIR,		/* value: enum kbl_direction */
	KBL_TOK_TYPE,		/* value: enum kbl_qual_type */
	KBL_TOK_OTHER,		/* an address, number or name */
	KBL_TOK_BAD
};

enum kbl_qual_proto {
	KBL_Q_ANY = 0,
	KBL_Q_IP,
	KBL_Q_IP6,
	KBL_Q_ARP,
	KBL_Q_RARP,
	KBL_Q_TCP,
	KBL_Q_UDP,
	KBL_Q_SCTP,
	KBL_Q_ICMP,
	KBL_Q_ICMP6
};

enum kbl_qual_type {
	KBL_Q_NONE = 0,
	KBL_Q_HOST,
	KBL_Q_NET,
	KBL_Q_PORT,
	KBL_Q_PORTRANGE,
	KBL_Q_PROTO,
	KBL_Q_DEV,
	KBL_Q_NETNS,
	KBL_Q_MARK,
	KBL_Q_PID,
	KBL_Q_SAMPLE,
	KBL_Q_SAMPLE_PACKETS
};

struct kbl_word {
	const char *at;
	u32 len;
	u8 token;		/* enum kbl_token */
	u8 value;
};

void kbl_word_next(const char **text, struct kbl_word *word);
bool kbl_word_is(const struct kbl_word *word, const char *text);
bool kbl_text_number(const char *at, u32 len, u32 max, u32 *to);
bool kbl_text_ipv4(const char *at, u32 len, u8 *addr, u32 *parts);
bool kbl_text_ipv6(const char *at, u32 len, u8 *addr);
u32 kbl_text_find(const char *at, u32 len, char c);

/* kbl_filter_id.c: meaning of a qualified word; false: *why is set */
struct kbl_qual {
	u8 proto;
	u8 dir;
	u8 type;
};

bool kbl_id_op(const struct kbl_qual *q, const struct kbl_word *word, struct kbl_filter_op *op,
	       const char **why);
bool kbl_id_netmask(struct kbl_filter_op *op, const struct kbl_word *word, const char **why);
bool kbl_proto_op(u8 proto, struct kbl_filter_op *op);

/* kbl_filter_parse.c */
int kbl_filter_parse(struct kbl_filter_program *program, const char *text,
		     struct kbl_filter_error *error);

/* kbl_filter_sock.c */
void kbl_filter_sock(struct kbl_filter_facts *facts, u64 addr, bool outgoing);

/* kbl_filter_facts.c */
void kbl_facts_packet(struct kbl_filter_facts *facts, const struct kbl_ext_skb *skb,
		      const struct kbl_ext_ipv4 *ipv4, const struct kbl_ext_ipv6 *ipv6,
		      const struct kbl_ext_ipv6_l4 *l4);
void kbl_facts_arp(struct kbl_filter_facts *facts, const u8 *spa, const u8 *tpa);
void kbl_facts_sock(struct kbl_filter_facts *facts, const struct kbl_filter_sock *sock,
		    bool outgoing);

/* kbl_filter_sample.c */
enum kbl_verdict kbl_filter_sample(const struct kbl_filter_op *op,
				   const struct kbl_filter_facts *facts);
enum kbl_verdict kbl_filter_sample_packets(const struct kbl_filter_op *op,
					   const struct kbl_filter_facts *facts);

/* kbl_filter_eval.c */
enum kbl_verdict kbl_filter_eval(const struct kbl_filter_program *program,
				 const struct kbl_filter_facts *facts);

/* kbl_filter_table.c: the accepted packets, by address */
#define KBL_FILTER_BITS 12
#define KBL_FILTER_WAYS 7

struct kbl_filter_bucket {
	u64 key[KBL_FILTER_WAYS];	/* 0 = free */
	u64 overflow;		/* not 0: accepted addresses may be missing here */
};

struct kbl_filter_table {
	struct kbl_filter_bucket bucket[1 << KBL_FILTER_BITS];
};

bool kbl_table_has(const struct kbl_filter_table *table, u64 key);
bool kbl_table_full(const struct kbl_filter_table *table, u64 key);
bool kbl_table_add(struct kbl_filter_table *table, u64 key);
void kbl_table_forget(struct kbl_filter_table *table, u64 key);

#endif /* KBL_FILTER_H */
