// SPDX-License-Identifier: GPL-2.0-only
/*
 * Back end: one kretprobe for each function.  It works on every kernel with kretprobes, but arms
 * functions one by one.
 *
 * The state of an open call is in memory that belongs to the kernel.  So if a call returns after
 * the module was unloaded, it finds no handler and uses nothing of the module.
 */
#include <linux/slab.h>

#include "kbl_hot.h"

#define KBL_DISARM_AT_ONCE 64	/* each batch waits once for all CPUs */

struct kbl_kretprobe {
	struct kretprobe rp;
	struct kbl_target *target;
};

static struct kbl_kretprobe *kbl_of(struct kretprobe_instance *ri)
{
	return container_of(get_kretprobe(ri), struct kbl_kretprobe, rp);
}
NOKPROBE_SYMBOL(kbl_of);

/*
 * @trap: whether a breakpoint may have led here.  A breakpoint's handler runs with interrupts
 * off, even if @regs has them on.
 */
static __always_inline int kbl_kretprobe_enter(struct kretprobe_instance *ri, struct pt_regs *regs,
					       bool trap, bool pv)
{
	struct kbl_target *t = kbl_of(ri)->target;
	unsigned long addr = kbl_return_address(regs), irq;
	void *ticket = ri->data;

	/* Keeps the compiler from holding both pointers in registers. */
	OPTIMIZER_HIDE_VAR(ticket);
	/* Recording may be switched on or off meanwhile: either outcome is fine for this call. */
	if (unlikely(!data_race(kbl_active)))
		return 1;
	irq = trap ? kbl_irq_off(pv) : kbl_irq_off_in(regs, pv);
	return kbl_enter_as(t, regs, irq, addr, trap && t->trap, pv, ticket);
}

static __always_inline int kbl_kretprobe_leave(struct kretprobe_instance *ri, struct pt_regs *regs,
					       bool pv)
{
	void *ticket = ri->data;

	OPTIMIZER_HIDE_VAR(ticket);
	kbl_leave(ticket, regs, kbl_irq_off_in(regs, pv), pv);
	return 0;
}

static int kbl_kretprobe_entry(struct kretprobe_instance *ri, struct pt_regs *regs)
{
	return kbl_kretprobe_enter(ri, regs, false, false);
}
NOKPROBE_SYMBOL(kbl_kretprobe_entry);

static int kbl_kretprobe_trap_entry(struct kretprobe_instance *ri, struct pt_regs *regs)
{
	return kbl_kretprobe_enter(ri, regs, true, false);
}
NOKPROBE_SYMBOL(kbl_kretprobe_trap_entry);

static int kbl_kretprobe_exit(struct kretprobe_instance *ri, struct pt_regs *regs)
{
	return kbl_kretprobe_leave(ri, regs, false);
}
NOKPROBE_SYMBOL(kbl_kretprobe_exit);

static int kbl_kretprobe_pv_entry(struct kretprobe_instance *ri, struct pt_regs *regs)
{
	return kbl_kretprobe_enter(ri, regs, true, true);
}
NOKPROBE_SYMBOL(kbl_kretprobe_pv_entry);

static int kbl_kretprobe_pv_exit(struct kretprobe_instance *ri, struct pt_regs *regs)
{
	return kbl_kretprobe_leave(ri, regs, true);
}
NOKPROBE_SYMBOL(kbl_kretprobe_pv_exit);

/* Measures the cost of the kernel's interface alone. */
static int kbl_kretprobe_floor(struct kretprobe_instance *ri, struct pt_regs *regs)
{
	return 0;
}
NOKPROBE_SYMBOL(kbl_kretprobe_floor);

static int kbl_kretprobe_arm_one(struct kbl_target *t)
{
	struct kbl_kretprobe *k = kzalloc(sizeof(*k), GFP_KERNEL);
	int err;

	if (!k)
		return -ENOMEM;
	k->target = t;
	k->rp.kp.addr = (kprobe_opcode_t *)t->addr;
	k->rp.entry_handler = kbl_arch_pv() ? kbl_kretprobe_pv_entry : kbl_kretprobe_trap_entry;
	k->rp.handler = kbl_arch_pv() ? kbl_kretprobe_pv_exit : kbl_kretprobe_exit;
	if (kbl_floor) {
		k->rp.entry_handler = kbl_kretprobe_floor;
		k->rp.handler = kbl_kretprobe_floor;
	}
	k->rp.data_size = sizeof(struct kbl_ticket);
	k->rp.maxactive = kbl_maxactive;
	t->probe = k;
	t->trap = true;	/* until it is known */
	err = register_kretprobe(&k->rp);
	if (err) {
		t->probe = NULL;
		kfree(k);
		return err;
	}
	t->trap = !kprobe_ftrace(&k->rp.kp);
	if (!t->trap && k->rp.entry_handler == kbl_kretprobe_trap_entry)
		WRITE_ONCE(k->rp.entry_handler, kbl_kretprobe_entry);
	return 0;
}

static void kbl_kretprobe_arm(struct kbl_target **targets, unsigned int nr)
{
	unsigned int i;

	for (i = 0; i < nr; i++) {
		targets[i]->error = kbl_kretprobe_arm_one(targets[i]);
		if (!targets[i]->error)
			targets[i]->mechanism = targets[i]->was = KBL_BY_KRETPROBE;
		cond_resched();
	}
}

static u64 kbl_kretprobe_missed(const struct kbl_target *t)
{
	const struct kbl_kretprobe *k = t->probe;

	return k->rp.nmissed + k->rp.kp.nmissed;
}

/* Returns after the last handler of these targets has finished. */
static void kbl_kretprobe_disarm_some(struct kbl_target **targets, unsigned int nr)
{
	struct kretprobe *rps[KBL_DISARM_AT_ONCE];
	unsigned int i;

	for (i = 0; i < nr; i++) {
		rps[i] = &((struct kbl_kretprobe *)targets[i]->probe)->rp;
		/* Hits during unregistration do not count as missed. */
		targets[i]->missed += kbl_kretprobe_missed(targets[i]);
	}
	unregister_kretprobes(rps, nr);
	for (i = 0; i < nr; i++) {
		targets[i]->mechanism = 0;
		kfree(targets[i]->probe);
		targets[i]->probe = NULL;
	}
}

/* No array of all targets: this must not fail for lack of memory. */
static void kbl_kretprobe_disarm(struct kbl_target **targets, unsigned int nr)
{
	struct kbl_target *some[KBL_DISARM_AT_ONCE];
	unsigned int i, n = 0;

	for (i = 0; i < nr; i++) {
		if (targets[i]->mechanism != KBL_BY_KRETPROBE)
			continue;
		some[n++] = targets[i];
		if (n == ARRAY_SIZE(some)) {
			kbl_kretprobe_disarm_some(some, n);
			n = 0;
			cond_resched();
		}
	}
	kbl_kretprobe_disarm_some(some, n);
}

const struct kbl_backend kbl_kretprobe_backend = {
	.name = "kretprobe",
	.mechanism = KBL_BY_KRETPROBE,
	.arm = kbl_kretprobe_arm,
	.disarm = kbl_kretprobe_disarm,
	.missed = kbl_kretprobe_missed,
};
