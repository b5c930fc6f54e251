/* SPDX-License-Identifier: GPL-2.0-only */
/* The functions to probe, and the back ends that probe them. */
#ifndef KBL_TARGET_H
#define KBL_TARGET_H

#include <linux/seq_file.h>
#include <linux/types.h>

#include "kbl.h"

#define KBL_MAX_PROBES 4096

/*
 * Set in a target's or a CPU's head: such calls take the slow path.  It is the sign bit, which
 * is free to test and which no field of the head uses.
 */
#define KBL_SLOW (1ULL << 63)

/* Type of the return value; bits above the type are garbage. */
enum kbl_returns {
	KBL_RETURNS_LONG,
	KBL_RETURNS_INT,
	KBL_RETURNS_BOOL,
	KBL_RETURNS_VOID
};

/* One function to probe. */
struct kbl_target {
	u64 head;		/* the known part of a CALL's first word; KBL_SLOW */
	u64 ret_mask;		/* valid bits of the return value */
	u16 id;
	u16 plain;		/* offset of the only skb in pt_regs */
	bool bare;		/* carries no skb and has no event: only a CALL is recorded */
	bool one;		/* carries one skb, in a register, and nothing else */
	bool none;		/* carries nothing */
	bool sock;		/* carries one socket, in a register: plain is its offset */
	bool trap;		/* entered by a breakpoint, which looks like an NMI */
	bool enabled;
	bool exit_event;	/* kbl_life_exit() has an event or socket to record */
	bool entry_event;	/* kbl_life_entry() has an event to record */
	bool ret_skb;		/* returns a packet; ret_sock: a socket */
	bool ret_sock;
	bool inner;		/* no skb: recorded only inside a recorded call */
	bool quiet;		/* record its event only, no CALL */
	bool tap;		/* function of a packet socket: record the content, too */
	u8 returns;		/* enum kbl_returns */
	u8 event;		/* enum kbl_event */
	u8 nr_carriers;
	u8 carrier[KBL_MAX_CARRIERS];
	u8 mechanism;		/* enum kbl_mechanism, 0 = not armed */
	u8 was;			/* the last mechanism that armed it */
	int error;
	unsigned long addr;
	unsigned long ip;	/* kbl_fprobe.c: address of the call to ftrace, 0 = ignore hits */
	u64 missed;		/* missed hits while it was armed earlier */
	void *probe;		/* the back end's data, while armed */
	void *site;		/* kbl_source.c: its only site, NULL = all sites of the name */
	char name[64];
	char module[32];
};

/* A back end: it makes functions run through kbl_enter_as() and kbl_leave(). */
struct kbl_backend {
	const char *name;
	u8 mechanism;
	/* Arm the targets with error 0; sets mechanism, or error. */
	void (*arm)(struct kbl_target **targets, unsigned int nr);
	/* Disarm the targets that this back end armed, and add up their missed hits. */
	void (*disarm)(struct kbl_target **targets, unsigned int nr);
	u64 (*missed)(const struct kbl_target *t);	/* missed hits since it was armed */
};

/* kbl_target_parse.c */
extern const char *const kbl_kinds[];
struct kbl_target *kbl_target_parse(char *line);
void kbl_target_number(struct kbl_target *t, unsigned int id);

/* kbl_target_refuse.c */
bool kbl_target_refused(const struct kbl_target *t);

/* kbl_target.c */
int kbl_target_add(char *line);
int kbl_targets_enable(const char *glob, bool enable);
void kbl_targets_free(void);
int kbl_targets_arm(void);
void kbl_targets_disarm(void);
u64 kbl_targets_missed(bool inner);
unsigned int kbl_targets_armed(void);
void kbl_targets_show(struct seq_file *m);
void kbl_missed_show(struct seq_file *m);
const struct kbl_backend *kbl_backend_chosen(void);

/* kbl_kretprobe.c, kbl_fprobe.c, kbl_source.c */
extern const struct kbl_backend kbl_kretprobe_backend;
extern const struct kbl_backend kbl_fprobe_backend;	/* .arm = NULL: not in this kernel */
extern const struct kbl_backend kbl_source_backend;	/* .arm = NULL: not in this kernel */
extern unsigned int kbl_maxactive;
extern bool kbl_floor;
u64 kbl_fprobe_missed(bool inner);
void kbl_fprobe_forget(void);
unsigned long kbl_source_address(const char *name);
void kbl_source_show(struct seq_file *m);

#endif /* KBL_TARGET_H */
