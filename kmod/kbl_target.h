/* SPDX-License-Identifier: GPL-2.0-only */
/* The functions to probe, and the ways to do it. */
#ifndef KBL_TARGET_H
#define KBL_TARGET_H

#include <linux/seq_file.h>
#include <linux/types.h>

#include "kbl.h"

#define KBL_MAX_PROBES 4096

/*
 * In a target's or a CPU's head: such calls take the long way.  The sign, which costs
 * nothing to test; no field reaches so far.
 */
#define KBL_SLOW (1ULL << 63)

/* What the return value is; the bits above the type are garbage. */
enum kbl_returns {
	KBL_RETURNS_LONG,
	KBL_RETURNS_INT,
	KBL_RETURNS_BOOL,
	KBL_RETURNS_VOID
};

/* One function to probe. */
struct kbl_target {
	u64 head;		/* of its CALLs: what is known of the first word; KBL_SLOW */
	u64 ret_mask;		/* the bits of the return value that are one */
	u16 id;
	u16 plain;		/* offset in pt_regs of the one skb */
	bool bare;		/* carries no skb, and has no event: its CALL is all there is */
	bool one;		/* carries one skb, in a register, and nothing else */
	bool none;		/* carries nothing */
	bool sock;		/* one socket, in a register, and nothing else: plain is its */
	bool trap;		/* reached by a breakpoint, which looks like an NMI */
	bool enabled;
	bool exit_event;	/* told at the exit, by kbl_life_exit(), or a socket is */
	bool entry_event;	/* told at the entry, by kbl_life_entry() */
	bool ret_skb;		/* returns a packet; ret_sock: a socket */
	bool ret_sock;
	bool quiet;		/* its event only, no CALL */
	bool tap;		/* a packet socket's function: what it is given is told, too */
	u8 returns;		/* enum kbl_returns */
	u8 event;		/* enum kbl_event */
	u8 nr_carriers;
	u8 carrier[KBL_MAX_CARRIERS];
	u8 mechanism;		/* enum kbl_mechanism, 0 = not armed */
	u8 was;			/* the mechanism it was armed by last */
	int error;
	unsigned long addr;
	unsigned long ip;	/* kbl_fprobe.c: where it is called from, 0 = do not heed it */
	u64 missed;		/* of earlier arms */
	void *probe;		/* the back end's own, while armed */
	void *site;		/* kbl_source.c: the only one, NULL = those of the name */
	char name[64];
	char module[32];
};

/* A way to have functions run through kbl_enter_as() and kbl_leave(). */
struct kbl_backend {
	const char *name;
	u8 mechanism;
	/* Arm those with error 0; sets mechanism, or error. */
	void (*arm)(struct kbl_target **targets, unsigned int nr);
	/* Disarm those armed by this; their missed hits are added up. */
	void (*disarm)(struct kbl_target **targets, unsigned int nr);
	u64 (*missed)(const struct kbl_target *t);	/* since armed */
};

/* kbl_target_parse.c */
extern const char *const kbl_kinds[];
struct kbl_target *kbl_target_parse(char *line);
void kbl_target_number(struct kbl_target *t, unsigned int id);

/* kbl_target.c */
int kbl_target_add(char *line);
int kbl_targets_enable(const char *glob, bool enable);
void kbl_targets_free(void);
int kbl_targets_arm(void);
void kbl_targets_disarm(void);
u64 kbl_targets_missed(void);
unsigned int kbl_targets_armed(void);
void kbl_targets_show(struct seq_file *m);
void kbl_missed_show(struct seq_file *m);
struct kbl_target *kbl_target_by_id(unsigned int id);
const struct kbl_backend *kbl_backend_chosen(void);

/* kbl_kretprobe.c, kbl_fprobe.c, kbl_source.c */
extern const struct kbl_backend kbl_kretprobe_backend;
extern const struct kbl_backend kbl_fprobe_backend;	/* .arm = NULL: not in this kernel */
extern const struct kbl_backend kbl_source_backend;	/* the same */
extern unsigned int kbl_maxactive;
extern bool kbl_floor;
u64 kbl_fprobe_missed(void);
void kbl_fprobe_forget(void);
unsigned long kbl_source_address(const char *name);
void kbl_source_show(struct seq_file *m);

#endif /* KBL_TARGET_H */
