/* SPDX-License-Identifier: GPL-2.0-only */
/* What the parts of the witness share. */
#ifndef WITNESS_H
#define WITNESS_H

#include <linux/ftrace.h>
#include <linux/netdevice.h>
#include <linux/sched.h>
#include <linux/skbuff.h>

#define WITNESS_WORDS 11

enum witness_kind { RCV, NIT, BORN, CLONED, FREED, RELEASED, STOLEN, KFREE, CONSUME, XMIT, QUEUE,
		    RECEIVE, KINDS };

/* other: the skb it was cloned from, or who dropped it; number: its reason, what xmit returned */
struct witness_row {
	u64 mono, real, tstamp;
	const void *skb, *other, *sock, *head, *data;
	const char *symbol;
	char comm[TASK_COMM_LEN];
	u64 words[WITNESS_WORDS];
	u32 kind, cpu, pid, ifindex, orig, netns, inode, len, paged, mac, nh, vlan, crc;
	s32 type, number;
};

struct witness_row *witness_row(enum witness_kind kind, const char *symbol,
				const struct sk_buff *skb);
void witness_device(struct witness_row *row, const struct net_device *dev);

/* The parts: each shows its missed hits in stats. */
struct seq_file;
void witness_watch_begin(void);
void witness_watch_end(void);
void witness_watch_show(struct seq_file *m);
void witness_birth_begin(void);
void witness_birth_end(void);
void witness_birth_show(struct seq_file *m);
void witness_event_begin(void);
void witness_event_end(void);
const char *witness_name(enum witness_kind kind);
void witness_show_row(struct seq_file *m, const struct witness_row *row);

#endif
