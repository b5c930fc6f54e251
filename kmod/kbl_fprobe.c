// SPDX-License-Identifier: GPL-2.0-only
/*
 * Back end: one fprobe for all functions with an skb, and one for all functions without an skb.
 * An fprobe arms all its functions at once.
 *
 * The handlers get only the function's address.  They find its target in a sparse hash table,
 * which is built when the functions are armed.
 */
#include <linux/kconfig.h>
#include <linux/version.h>

#include "kbl_hot.h"

/* Only in these kernel versions, the callbacks get a struct pt_regs and the return address. */
#if defined(CONFIG_FPROBE) && LINUX_VERSION_CODE >= KERNEL_VERSION(6, 6, 0) && \
	LINUX_VERSION_CODE < KERNEL_VERSION(6, 14, 0)

#include <linux/fprobe.h>
#include <linux/hash.h>
#include <linux/log2.h>
#include <linux/mm.h>
#include <linux/slab.h>

#define KBL_ENDBR 4		/* a function may begin with ENDBR; the call to ftrace follows it */

/*
 * Functions without an skb have an fprobe of their own, so that what they miss is not missed by
 * packets: an fprobe counts its missed hits together, and its functions share their return hooks.
 */
static struct fprobe *kbl_fprobes[2];	/* by kbl_target.inner; NULL: none */
#define KBL_MAP_BITS 16		/* at most one eighth full, so that searches are short and end */

static struct kbl_target **kbl_map;
static struct kbl_target kbl_map_none;	/* marks empty slots of the map */
static u64 kbl_fprobe_before[2];	/* hits that earlier fprobes missed */

static __always_inline u32 kbl_map_hash(unsigned long ip)
{
	return (u32)ip * GOLDEN_RATIO_32 >> (32 - KBL_MAP_BITS);
}

static __always_inline u32 kbl_map_after(u32 at)
{
	return (at + 1) & ((1 << KBL_MAP_BITS) - 1);
}

/* The target with that address, or &kbl_map_none. */
static __always_inline struct kbl_target *kbl_map_find(unsigned long ip)
{
	u32 at = kbl_map_hash(ip);
	struct kbl_target *t;

	while ((t = kbl_map[at])->addr != ip && t->addr + KBL_ENDBR != ip && t != &kbl_map_none)
		at = kbl_map_after(at);
	return t;
}

/* ftrace arms and disarms functions one after the other: before and after, none is recorded. */
static __always_inline bool kbl_is_recorded(const struct kbl_target *t)
{
	return READ_ONCE(t->enabled) && READ_ONCE(kbl_active);
}

/*
 * The slow path: the first hit of an address, collisions in the table, functions that are
 * disabled, and hits before the recording begins or after it has ended.
 */
static noinline struct kbl_target *kbl_map_search(unsigned long ip)
{
	struct kbl_target *t = kbl_map_find(ip);

	if (!kbl_is_recorded(t))
		return NULL;
	WRITE_ONCE(t->ip, ip);
	/*
	 * Pairs with kbl_targets_enable() and kbl_fprobe_disarm(): one of the two sees what the
	 * other wrote.
	 */
	smp_mb();
	if (!kbl_is_recorded(t))
		WRITE_ONCE(t->ip, 0);
	return t;
}
NOKPROBE_SYMBOL(kbl_map_search);

/* The handler's remaining arguments stay in their registers. */
static noinline int kbl_fprobe_enter_search(unsigned long unused, unsigned long ip,
					    unsigned long unused2, struct pt_regs *regs,
					    void *ticket)
{
	struct kbl_target *t = kbl_map_search(ip);

	if (!t)
		return 1;
	return kbl_enter_as(t, regs, kbl_irq_off(true), kbl_return_address(regs), false, true,
			    ticket);
}
NOKPROBE_SYMBOL(kbl_fprobe_enter_search);

static __always_inline int kbl_fprobe_enter(unsigned long ip, unsigned long ret_ip,
					    struct pt_regs *regs, void *ticket, bool pv)
{
	struct kbl_target *t = kbl_map[kbl_map_hash(ip)];

	/* kbl_map_search() may write it concurrently; on a mismatch it looks the address up. */
	if (unlikely(data_race(t->ip) != ip))
		return kbl_fprobe_enter_search(0, ip, 0, regs, ticket);
	return kbl_enter_as(t, regs, kbl_irq_off_in(regs, pv), ret_ip, false, pv, ticket);
}

static int kbl_fprobe_entry(struct fprobe *fp, unsigned long ip, unsigned long ret_ip,
			    struct pt_regs *regs, void *entry_data)
{
	return kbl_fprobe_enter(ip, ret_ip, regs, entry_data, false);
}
NOKPROBE_SYMBOL(kbl_fprobe_entry);

static void kbl_fprobe_exit(struct fprobe *fp, unsigned long ip, unsigned long ret_ip,
			    struct pt_regs *regs, void *entry_data)
{
	kbl_leave(entry_data, regs, kbl_irq_off_in(regs, false), false);
}
NOKPROBE_SYMBOL(kbl_fprobe_exit);

static int kbl_fprobe_pv_entry(struct fprobe *fp, unsigned long ip, unsigned long ret_ip,
			       struct pt_regs *regs, void *entry_data)
{
	return kbl_fprobe_enter(ip, ret_ip, regs, entry_data, true);
}
NOKPROBE_SYMBOL(kbl_fprobe_pv_entry);

static void kbl_fprobe_pv_exit(struct fprobe *fp, unsigned long ip, unsigned long ret_ip,
			       struct pt_regs *regs, void *entry_data)
{
	kbl_leave(entry_data, regs, kbl_irq_off_in(regs, true), true);
}
NOKPROBE_SYMBOL(kbl_fprobe_pv_exit);

/* Measures the cost of the kernel's interface alone. */
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

/* If ftrace does not know one function, it refuses all of them: try each one alone first. */
static bool kbl_fprobe_try(struct kbl_target **targets, unsigned int nr)
{
	struct ftrace_ops *ops = kzalloc(sizeof(*ops), GFP_KERNEL);
	bool any = false;
	unsigned int i;

	if (!ops)
		return false;
	for (i = 0; i < nr; i++) {
		struct kbl_target *t = targets[i];

		t->error = ftrace_set_filter_ip(ops, t->addr, 0, 1);
		/*
		 * ftrace accepts the address of any byte of the call instruction, but calls the
		 * handler with that of the first byte only.
		 */
		if (!t->error && !ftrace_set_filter_ip(ops, t->addr - 1, 0, 0))
			t->error = -EINVAL;
		any |= !t->error;
	}
	ftrace_free_filter(ops);
	kfree(ops);
	return any;
}

/* Add a target under one of the two addresses that ftrace may call from. */
static void kbl_map_add(struct kbl_target *t, unsigned long ip)
{
	u32 at = kbl_map_hash(ip);

	while (kbl_map[at] != &kbl_map_none)
		at = kbl_map_after(at);
	kbl_map[at] = t;
}

static int kbl_map_make(struct kbl_target **targets, unsigned int nr)
{
	unsigned int i;

	BUILD_BUG_ON(2 * KBL_MAX_PROBES > (1 << KBL_MAP_BITS) / 8);
	kbl_map = kvmalloc_array(1 << KBL_MAP_BITS, sizeof(*kbl_map), GFP_KERNEL);
	if (!kbl_map)
		return -ENOMEM;
	for (i = 0; i < 1 << KBL_MAP_BITS; i++)
		kbl_map[i] = &kbl_map_none;
	for (i = 0; i < nr; i++) {
		if (targets[i]->error)
			continue;
		if (kbl_map_find(targets[i]->addr) != &kbl_map_none ||
		    kbl_map_find(targets[i]->addr + KBL_ENDBR) != &kbl_map_none) {
			targets[i]->error = -EBUSY;
			continue;
		}
		targets[i]->ip = 0;
		kbl_map_add(targets[i], targets[i]->addr);
		kbl_map_add(targets[i], targets[i]->addr + KBL_ENDBR);
	}
	return 0;
}

static int kbl_fprobe_register(bool inner, unsigned long *addrs, unsigned int n)
{
	struct fprobe *fp = kzalloc(sizeof(*fp), GFP_KERNEL);
	int err;

	if (!fp)
		return -ENOMEM;
	fp->entry_handler = kbl_arch_pv() ? kbl_fprobe_pv_entry : kbl_fprobe_entry;
	fp->exit_handler = kbl_arch_pv() ? kbl_fprobe_pv_exit : kbl_fprobe_exit;
	if (kbl_floor) {
		fp->entry_handler = kbl_fprobe_floor_entry;
		fp->exit_handler = kbl_fprobe_floor_exit;
	}
	fp->entry_data_size = sizeof(struct kbl_ticket);
	/* For all functions together. */
	fp->nr_maxactive = max(n * num_possible_cpus() * 2, 16 * kbl_maxactive);
	kbl_fprobes[inner] = fp;
	err = register_fprobe_ips(fp, addrs, n);
	if (err) {
		kbl_fprobes[inner] = NULL;
		kfree(fp);
	}
	return err;
}

/* Arm the targets without error, of one of the two fprobes. */
static void kbl_fprobe_arm_some(bool inner, struct kbl_target **targets, unsigned int nr,
				unsigned long *addrs)
{
	unsigned int i, n = 0;
	int err = 0;

	for (i = 0; i < nr; i++)
		if (!targets[i]->error && targets[i]->inner == inner)
			addrs[n++] = targets[i]->addr;
	if (n)
		err = kbl_fprobe_register(inner, addrs, n);
	for (i = 0; i < nr; i++) {
		if (targets[i]->error || targets[i]->inner != inner)
			continue;
		targets[i]->error = err;
		if (!err)
			targets[i]->mechanism = targets[i]->was = KBL_BY_FPROBE;
	}
}

static void kbl_fprobe_fail(struct kbl_target **targets, unsigned int nr, int err)
{
	unsigned int i;

	for (i = 0; i < nr; i++)
		if (!targets[i]->error)
			targets[i]->error = err;
}

static void kbl_map_drop(void)
{
	kvfree(kbl_map);
	kbl_map = NULL;
}

static void kbl_fprobe_arm(struct kbl_target **targets, unsigned int nr)
{
	unsigned long *addrs;
	int err = -ENOMEM;

	if (!nr || kbl_map)
		return;
	addrs = kvcalloc(nr, sizeof(*addrs), GFP_KERNEL);
	if (addrs && kbl_fprobe_try(targets, nr))
		err = kbl_map_make(targets, nr);
	if (!err) {
		kbl_fprobe_arm_some(false, targets, nr, addrs);
		kbl_fprobe_arm_some(true, targets, nr, addrs);
	} else {
		kbl_fprobe_fail(targets, nr, err);
	}
	if (!kbl_fprobes[false] && !kbl_fprobes[true])
		kbl_map_drop();
	kvfree(addrs);
}

static void kbl_fprobe_end(struct fprobe **at, u64 *before)
{
	struct fprobe *fp = *at;

	if (!fp)
		return;
	/* Hits during unregistration do not count as missed. */
	*before += fp->nmissed;
	unregister_fprobe(fp);
	/* An exit that found the handler before it was removed may still run. */
	synchronize_rcu();
	*at = NULL;
	kfree(fp);
}

/* Disarms all functions.  A single one can only be ignored, see kbl_targets_enable(). */
static void kbl_fprobe_disarm(struct kbl_target **targets, unsigned int nr)
{
	unsigned int i;

	/* kbl_active is false; pairs with kbl_map_search(). */
	smp_mb();
	for (i = 0; i < nr; i++)
		WRITE_ONCE(targets[i]->ip, 0);
	for (i = 0; i < ARRAY_SIZE(kbl_fprobes); i++)
		kbl_fprobe_end(&kbl_fprobes[i], &kbl_fprobe_before[i]);
	kbl_map_drop();
	for (i = 0; i < nr; i++)
		if (targets[i]->mechanism == KBL_BY_FPROBE)
			targets[i]->mechanism = 0;
}

static u64 kbl_fprobe_none(const struct kbl_target *t)
{
	return 0;
}

/* Missed hits of all functions: the interface does not count them by function. */
u64 kbl_fprobe_missed(bool inner)
{
	const struct fprobe *fp = kbl_fprobes[inner];

	return kbl_fprobe_before[inner] + (fp ? fp->nmissed : 0);
}

/* The missed hits of other back ends are freed with their targets. */
void kbl_fprobe_forget(void)
{
	memset(kbl_fprobe_before, 0, sizeof(kbl_fprobe_before));
}

const struct kbl_backend kbl_fprobe_backend = {
	.name = "fprobe",
	.mechanism = KBL_BY_FPROBE,
	.arm = kbl_fprobe_arm,
	.disarm = kbl_fprobe_disarm,
	.missed = kbl_fprobe_none,
};

#else

u64 kbl_fprobe_missed(bool inner)
{
	return 0;
}

void kbl_fprobe_forget(void)
{
}

const struct kbl_backend kbl_fprobe_backend = {
	.name = "fprobe",
};

#endif
