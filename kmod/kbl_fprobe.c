// SPDX-License-Identifier: GPL-2.0-only
/*
 * Back end: one fprobe for all functions, armed at once.
 *
 * The handlers are told an address only.  It is looked up in a sparse hash
 * table that is made when the functions are armed.
 */
#include <linux/kconfig.h>
#include <linux/version.h>

#include "kbl_hot.h"

/* The callbacks take a struct pt_regs and the return address in these versions only. */
#if defined(CONFIG_FPROBE) && LINUX_VERSION_CODE >= KERNEL_VERSION(6, 6, 0) && \
	LINUX_VERSION_CODE < KERNEL_VERSION(6, 14, 0)

#include <linux/fprobe.h>
#include <linux/hash.h>
#include <linux/log2.h>
#include <linux/mm.h>
#include <linux/slab.h>

#define KBL_ENDBR 4		/* a function may begin with ENDBR, then comes ftrace's place */

static struct fprobe *kbl_fprobe;
static struct kbl_target **kbl_map;
static u32 kbl_map_mask;
static u64 kbl_fprobe_before;	/* hits missed by earlier fprobes */

struct kbl_fprobe_data {
	unsigned long token;
	struct kbl_target *target;
};

static __always_inline u32 kbl_map_hash(unsigned long ip)
{
	/* Functions mostly begin at multiples of 16; so ENDBR makes no difference. */
	return (u32)(ip >> 4) * GOLDEN_RATIO_32 >> 16;
}

static __always_inline struct kbl_target *kbl_map_find(unsigned long addr)
{
	u32 at = kbl_map_hash(addr);
	struct kbl_target *t;

	while ((t = kbl_map[at++ & kbl_map_mask]))
		if (t->addr == addr)
			break;
	return t;
}

/* Hits before the place is known, neighbours in the table, functions not to be heeded. */
static KBL_SELDOM struct kbl_target *kbl_map_search(unsigned long ip)
{
	struct kbl_target *t = kbl_map_find(ip) ?: kbl_map_find(ip - KBL_ENDBR);

	if (!t || !READ_ONCE(t->enabled))
		return NULL;
	WRITE_ONCE(t->ip, ip);
	/* Pairs with kbl_targets_enable(): one of us sees what the other wrote. */
	smp_mb();
	if (!READ_ONCE(t->enabled))
		WRITE_ONCE(t->ip, 0);
	return t;
}
NOKPROBE_SYMBOL(kbl_map_search);

static int kbl_fprobe_entry(struct fprobe *fp, unsigned long ip, unsigned long ret_ip,
			    struct pt_regs *regs, void *entry_data)
{
	struct kbl_target *t = kbl_map[kbl_map_hash(ip) & kbl_map_mask];
	struct kbl_fprobe_data *data = entry_data;

	if (unlikely(!t || READ_ONCE(t->ip) != ip)) {
		t = kbl_map_search(ip);
		if (!t)
			return 1;
	}
	data->target = t;
	return kbl_enter_as(t, regs, false, &data->token);
}
NOKPROBE_SYMBOL(kbl_fprobe_entry);

static void kbl_fprobe_exit(struct fprobe *fp, unsigned long ip, unsigned long ret_ip,
			    struct pt_regs *regs, void *entry_data)
{
	struct kbl_fprobe_data *data = entry_data;

	kbl_leave(data->target, data->token, regs);
}
NOKPROBE_SYMBOL(kbl_fprobe_exit);

/* What the interface costs by itself, for measurements. */
static int kbl_fprobe_floor_entry(struct fprobe *fp, unsigned long ip, unsigned long ret_ip,
				  struct pt_regs *regs, void *data)
{
	return 0;
}
NOKPROBE_SYMBOL(kbl_fprobe_floor_entry);

static void kbl_fprobe_floor_exit(struct fprobe *fp, unsigned long ip, unsigned long ret_ip,
				  struct pt_regs *regs, void *data)
{
}
NOKPROBE_SYMBOL(kbl_fprobe_floor_exit);

/* One function that ftrace does not know makes it refuse all: try each alone before. */
static unsigned int kbl_fprobe_try(struct kbl_target **targets, unsigned int nr,
				   unsigned long *addrs)
{
	struct ftrace_ops *ops = kzalloc(sizeof(*ops), GFP_KERNEL);
	unsigned int i, n = 0;

	if (!ops)
		return 0;
	for (i = 0; i < nr; i++) {
		struct kbl_target *t = targets[i];

		t->error = ftrace_set_filter_ip(ops, t->addr, 0, 1);
		if (t->error)
			continue;
		addrs[n++] = t->addr;
	}
	ftrace_free_filter(ops);
	kfree(ops);
	return n;
}

/* Never more than an eighth full, so that a search is short and ends. */
static int kbl_map_make(struct kbl_target **targets, unsigned int nr)
{
	unsigned int i, size = roundup_pow_of_two(nr * 8);
	u32 at;

	kbl_map = kvcalloc(size, sizeof(*kbl_map), GFP_KERNEL);
	if (!kbl_map)
		return -ENOMEM;
	kbl_map_mask = size - 1;
	for (i = 0; i < nr; i++) {
		if (targets[i]->error)
			continue;
		at = kbl_map_hash(targets[i]->addr);
		while (kbl_map[at & kbl_map_mask])
			at++;
		targets[i]->ip = 0;
		kbl_map[at & kbl_map_mask] = targets[i];
	}
	return 0;
}

static int kbl_fprobe_register(unsigned long *addrs, unsigned int n)
{
	struct fprobe *fp = kzalloc(sizeof(*fp), GFP_KERNEL);
	int err;

	if (!fp)
		return -ENOMEM;
	fp->entry_handler = kbl_floor ? kbl_fprobe_floor_entry : kbl_fprobe_entry;
	fp->exit_handler = kbl_floor ? kbl_fprobe_floor_exit : kbl_fprobe_exit;
	fp->entry_data_size = sizeof(struct kbl_fprobe_data);
	/* Of all functions together. */
	fp->nr_maxactive = max(n * num_possible_cpus() * 2, 16 * kbl_maxactive);
	kbl_fprobe = fp;
	err = register_fprobe_ips(fp, addrs, n);
	if (err) {
		kbl_fprobe = NULL;
		kfree(fp);
	}
	return err;
}

static void kbl_fprobe_arm(struct kbl_target **targets, unsigned int nr)
{
	unsigned long *addrs;
	unsigned int i, n;
	int err = -ENOMEM;

	if (!nr || kbl_fprobe)
		return;
	addrs = kvcalloc(nr, sizeof(*addrs), GFP_KERNEL);
	n = addrs ? kbl_fprobe_try(targets, nr, addrs) : 0;
	if (n)
		err = kbl_map_make(targets, nr);
	if (!err)
		err = kbl_fprobe_register(addrs, n);
	for (i = 0; i < nr; i++) {
		if (targets[i]->error)
			continue;
		targets[i]->error = err;
		if (!err)
			targets[i]->mechanism = targets[i]->was = KBL_BY_FPROBE;
	}
	if (err) {
		kvfree(kbl_map);
		kbl_map = NULL;
	}
	kvfree(addrs);
}

static void kbl_fprobe_end(void)
{
	struct fprobe *fp = kbl_fprobe;

	unregister_fprobe(fp);
	/* An exit that found the handler before it was taken away may still run. */
	synchronize_rcu();
	kbl_fprobe = NULL;
	kbl_fprobe_before += fp->nmissed;
	kfree(fp);
	kvfree(kbl_map);
	kbl_map = NULL;
}

/* All of them: a single function is only not heeded any more, see kbl_targets_enable(). */
static void kbl_fprobe_disarm(struct kbl_target **targets, unsigned int nr)
{
	unsigned int i;

	if (kbl_fprobe)
		kbl_fprobe_end();
	for (i = 0; i < nr; i++)
		if (targets[i]->mechanism == KBL_BY_FPROBE)
			targets[i]->mechanism = 0;
}

static u64 kbl_fprobe_none(const struct kbl_target *t)
{
	return 0;
}

/* Of all functions: the interface counts them together. */
u64 kbl_fprobe_missed(void)
{
	return kbl_fprobe_before + (kbl_fprobe ? kbl_fprobe->nmissed : 0);
}

const struct kbl_backend kbl_fprobe_backend = {
	.name = "fprobe",
	.mechanism = KBL_BY_FPROBE,
	.arm = kbl_fprobe_arm,
	.disarm = kbl_fprobe_disarm,
	.missed = kbl_fprobe_none,
};

#else

u64 kbl_fprobe_missed(void)
{
	return 0;
}

const struct kbl_backend kbl_fprobe_backend = {
	.name = "fprobe",
};

#endif
