/* SPDX-License-Identifier: GPL-2.0-only */
/* What the module's own parts share; the file layout is kbl.h. */
#ifndef KBL_INTERNAL_H
#define KBL_INTERNAL_H

#include <linux/kprobes.h>
#include <linux/percpu.h>
#include <linux/seq_file.h>
#include <linux/skbuff.h>

#include "kbl.h"

#define KBL_MAX_PROBES 2048
#define KBL_SEEN_TASKS 64	/* a power of two */
#define KBL_MAX_SEGMENTS 64
#define KBL_BATCH_SLOTS (KBL_MAX_SEGMENTS + 12)
#define KBL_NO_ARG 0xff

union kbl_slot {
	struct kbl_call_slot call;
	struct kbl_event_slot event;
	struct kbl_lost_slot lost;
	struct kbl_ext_ipv4 ipv4;
	struct kbl_ext_ipv6 ipv6;
	struct kbl_ext_ipv6_l4 ipv6_l4;
	struct kbl_ext_skb skb;
	struct kbl_ext_comm comm;
};

/* One function to probe. */
struct kbl_target {
	struct kretprobe rp;
	unsigned long addr;
	u32 id;
	int error;
	u8 arg;
	bool indirect;		/* the argument is a struct sk_buff ** */
	bool ret;
	u8 event;
	bool armed;
	u64 missed;		/* of earlier arms */
	char name[64];
	char module[32];
};

/* What an instance carries from entry to exit: the skb may be gone by then. */
struct kbl_call {
	u64 skb;
	u64 size;
	u8 flags;
	bool logged;
};

struct kbl_seen {
	u32 pid;
	char comm[16];
};

struct kbl_cpu {
	u64 last_ns;
	u64 written;
	u64 lost;
	u64 null_skb;
	u64 nested;
	u64 lost_pending;
	u64 lost_first_ns;
	bool busy;
	unsigned int nslots;
	unsigned int nheads;
	struct kbl_seen *fresh;
	struct kbl_seen seen[KBL_SEEN_TASKS];
	union kbl_slot slots[KBL_BATCH_SLOTS];
	u64 hits[KBL_MAX_PROBES];
};

extern struct kbl_cpu __percpu *kbl_cpus;
extern unsigned long kbl_stext;
extern bool kbl_active;

/* kbl_relay.c */
int kbl_relay_open(struct dentry *dir, size_t subbuf_size, size_t n_subbufs);
void kbl_relay_close(void);
void kbl_relay_clear(void);
void kbl_relay_flush_lost(void);
u64 kbl_batch_begin(struct kbl_cpu *c);
bool kbl_batch_commit(struct kbl_cpu *c);
union kbl_slot *kbl_head(struct kbl_cpu *c);
union kbl_slot *kbl_ext(struct kbl_cpu *c, u8 type);

/* kbl_skb.c */
int kbl_skb_copy(struct sk_buff *to, u64 addr);
unsigned int kbl_skb_footprint(struct kbl_cpu *c, const struct sk_buff *skb, bool with_header);

/* kbl_probe.c */
int kbl_target_add(char *line);
void kbl_targets_free(void);
int kbl_targets_arm(int maxactive);
void kbl_targets_disarm(void);
u64 kbl_targets_missed(void);
void kbl_targets_show(struct seq_file *m);

/* kbl_dev.c */
int kbl_dev_init(void);
void kbl_dev_exit(void);
bool kbl_dev_find(const void *dev, u32 *ifindex, u32 *netns);
void kbl_dev_show(struct seq_file *m);

#endif /* KBL_INTERNAL_H */
