// SPDX-License-Identifier: GPL-2.0-only
/*
 * The kretprobes: one per function of the list, and what they write at entry
 * and exit.  An exit never reads the skb of its entry, it may be freed.
 */
#include <linux/err.h>
#include <linux/hardirq.h>
#include <linux/sched.h>
#include <linux/slab.h>
#include <linux/uaccess.h>

#include "kbl_internal.h"

static struct kbl_target *kbl_targets[KBL_MAX_PROBES];
static unsigned int kbl_nr_targets;

static bool kbl_is_skb(u64 addr)
{
	return addr >= PAGE_SIZE && !IS_ERR_VALUE((unsigned long)addr);
}
NOKPROBE_SYMBOL(kbl_is_skb);

/* A probe by int3 stands in what looks like an NMI; that is our own doing. */
static u8 kbl_context(const struct kbl_target *t, bool entry)
{
	unsigned long count = preempt_count();

	if (entry && !(t->rp.kp.flags & (KPROBE_FLAG_FTRACE | KPROBE_FLAG_OPTIMIZED)) &&
	    count & NMI_MASK)
		count -= NMI_OFFSET + HARDIRQ_OFFSET;
	if (count & NMI_MASK)
		return KBL_CTX_NMI;
	if (count & HARDIRQ_MASK)
		return KBL_CTX_HARDIRQ;
	return count & SOFTIRQ_OFFSET ? KBL_CTX_SOFTIRQ : KBL_CTX_TASK;
}
NOKPROBE_SYMBOL(kbl_context);

/*
 * The return address as an offset from _stext.  After a tail call the stack
 * holds a return hook of the function that jumped: the hooks of one frame
 * stack up, and the oldest of them knows the real address.
 */
static s32 kbl_caller(struct pt_regs *regs, u8 *flags)
{
	unsigned long addr = 0;
	s64 offset;
#if defined(CONFIG_X86) && defined(CONFIG_KRETPROBE_ON_RETHOOK)
	struct llist_node *n;

	addr = regs_get_kernel_stack_nth(regs, 0);
	for (n = current->rethooks.first; n; n = n->next) {
		struct rethook_node *node = container_of(n, struct rethook_node, llist);

		if (node->frame != regs->sp)
			break;
		addr = node->ret_addr;
		*flags |= KBL_FLAG_TAIL_CALL;
	}
#endif
	offset = addr - kbl_stext;
	if (addr && offset == (s32)offset)
		return offset;
	*flags |= KBL_FLAG_NO_CALLER;
	return 0;
}
NOKPROBE_SYMBOL(kbl_caller);

static u64 kbl_skb_argument(const struct kbl_target *t, struct pt_regs *regs)
{
	unsigned long arg = regs_get_kernel_argument(regs, t->arg);

	if (t->indirect && copy_from_kernel_nofault(&arg, (void *)arg, sizeof(arg)))
		return 0;
	return arg;
}
NOKPROBE_SYMBOL(kbl_skb_argument);

static void kbl_event(struct kbl_cpu *c, const struct kbl_call_slot *at, u8 event, u64 skb,
		      u64 data)
{
	struct kbl_event_slot *slot = &kbl_head(c)->event;

	slot->kind = KBL_EVENT;
	slot->event = event;
	slot->context = at->context;
	slot->pid = at->pid;
	slot->ts = at->ts;
	slot->skb = skb;
	slot->data = data;
}
NOKPROBE_SYMBOL(kbl_event);

/* Life events told by a function's entry. */
static void kbl_entry_event(struct kbl_cpu *c, const struct kbl_target *t,
			    const struct kbl_call_slot *at, const struct sk_buff *skb,
			    struct pt_regs *regs)
{
	u64 location = (u64)(u32)at->caller << 32;
	bool last = refcount_read(&skb->users) == 1;

	switch (t->event) {
	case KBL_EV_FREE:
	case KBL_EV_DEFER_FREE:
		kbl_event(c, at, t->event, at->skb, 0);
		break;
	case KBL_EV_DROP:
		/* Another holder keeps it alive: a reference went, not the packet. */
		if (last)
			kbl_event(c, at, t->event, at->skb,
				  location | (u32)regs_get_kernel_argument(regs, t->arg + 1));
		break;
	case KBL_EV_CONSUME:
		if (last)
			kbl_event(c, at, t->event, at->skb, location);
		break;
	}
}
NOKPROBE_SYMBOL(kbl_entry_event);

/* The skb part of an entry: EXT slots, then perhaps an event. */
static void kbl_entry_skb(struct kbl_cpu *c, const struct kbl_target *t,
			  struct kbl_call_slot *slot, struct pt_regs *regs)
{
	struct sk_buff skb;

	if (!kbl_is_skb(slot->skb)) {
		slot->flags |= KBL_FLAG_NULL_SKB;
		c->null_skb++;
	} else if (kbl_skb_copy(&skb, slot->skb)) {
		slot->flags |= KBL_FLAG_EXT_LOST;
	} else {
		/* At kfree_skbmem() the data is already given back. */
		slot->ext = kbl_skb_footprint(c, &skb, t->event != KBL_EV_FREE);
		kbl_entry_event(c, t, slot, &skb, regs);
	}
}
NOKPROBE_SYMBOL(kbl_entry_skb);

static void kbl_write_entry(struct kbl_cpu *c, struct kbl_target *t, struct kbl_call *call,
			    struct pt_regs *regs)
{
	u64 now = kbl_batch_begin(c);
	struct kbl_call_slot *slot = &kbl_head(c)->call;

	slot->kind = KBL_ENTRY;
	slot->context = kbl_context(t, true);
	slot->func = t->id;
	slot->ts = now;
	slot->caller = kbl_caller(regs, &slot->flags);
	slot->pid = current->pid;
	if (t->arg != KBL_NO_ARG) {
		slot->skb = kbl_skb_argument(t, regs);
		kbl_entry_skb(c, t, slot, regs);
	}
	call->skb = slot->skb;
	call->flags = slot->flags & KBL_FLAG_NULL_SKB;
	/* __alloc_skb(size, ...), but build_skb(data, size) */
	call->size = regs_get_kernel_argument(regs, 0);
	if (call->size > S32_MAX)
		call->size = regs_get_kernel_argument(regs, 1);
	call->logged = kbl_batch_commit(c);
}
NOKPROBE_SYMBOL(kbl_write_entry);

static int kbl_on_entry(struct kretprobe_instance *ri, struct pt_regs *regs)
{
	struct kbl_target *t = container_of(get_kretprobe(ri), struct kbl_target, rp);
	struct kbl_call *call = (struct kbl_call *)ri->data;
	struct kbl_cpu *c;
	unsigned long flags;
	int untracked = 1;

	if (!READ_ONCE(kbl_active))
		return untracked;
	local_irq_save(flags);
	c = this_cpu_ptr(kbl_cpus);
	if (c->busy) {
		c->nested++;
	} else {
		c->busy = true;
		c->hits[t->id]++;
		kbl_write_entry(c, t, call, regs);
		c->busy = false;
		untracked = 0;
	}
	local_irq_restore(flags);
	return untracked;
}
NOKPROBE_SYMBOL(kbl_on_entry);

/* The segments are a list linked by next; each is new and alive. */
static void kbl_segment_events(struct kbl_cpu *c, const struct kbl_call_slot *at, u64 parent,
			       u64 first)
{
	unsigned long next = first;
	unsigned int i;

	for (i = 0; i < KBL_MAX_SEGMENTS && kbl_is_skb(next); i++) {
		kbl_event(c, at, KBL_EV_SEGMENT, parent, next);
		if (copy_from_kernel_nofault(&next, (void *)next, sizeof(next)))
			break;
	}
}
NOKPROBE_SYMBOL(kbl_segment_events);

/* Life events told by a function's return value. */
static void kbl_exit_event(struct kbl_cpu *c, const struct kbl_target *t,
			   const struct kbl_call_slot *at, const struct kbl_call *call)
{
	switch (t->event) {
	case KBL_EV_ALLOC:
		kbl_event(c, at, t->event, at->skb, call->size);
		break;
	case KBL_EV_CLONE:
	case KBL_EV_COPY:
		kbl_event(c, at, t->event, call->skb, at->skb);
		break;
	case KBL_EV_SEGMENT:
		kbl_segment_events(c, at, call->skb, at->skb);
		break;
	}
}
NOKPROBE_SYMBOL(kbl_exit_event);

static void kbl_write_exit(struct kbl_cpu *c, struct kbl_target *t, struct kbl_call *call,
			   struct pt_regs *regs)
{
	unsigned long value = regs_return_value(regs);
	u64 now = kbl_batch_begin(c);
	struct kbl_call_slot *slot = &kbl_head(c)->call;

	slot->kind = KBL_EXIT;
	slot->flags = call->flags;
	slot->context = kbl_context(t, false);
	slot->func = t->id;
	slot->ts = now;
	slot->skb = call->skb;
	slot->caller = (s32)value;
	slot->pid = current->pid;
	if (t->ret && kbl_is_skb(value)) {
		slot->skb = value;
		slot->flags |= KBL_FLAG_SKB_IS_RET;
		kbl_exit_event(c, t, slot, call);
	}
	kbl_batch_commit(c);
}
NOKPROBE_SYMBOL(kbl_write_exit);

static int kbl_on_exit(struct kretprobe_instance *ri, struct pt_regs *regs)
{
	struct kbl_target *t = container_of(get_kretprobe(ri), struct kbl_target, rp);
	struct kbl_call *call = (struct kbl_call *)ri->data;
	struct kbl_cpu *c;
	unsigned long flags;

	local_irq_save(flags);
	c = this_cpu_ptr(kbl_cpus);
	if (c->busy) {
		c->nested++;
	} else if (!call->logged) {
		/* An exit whose entry is lost tells nothing: lost with it. */
		if (!c->lost_pending)
			c->lost_first_ns = c->last_ns;
		c->lost++;
		c->lost_pending++;
	} else {
		c->busy = true;
		kbl_write_exit(c, t, call, regs);
		c->busy = false;
	}
	local_irq_restore(flags);
	return 0;
}
NOKPROBE_SYMBOL(kbl_on_exit);

/* "address argindex returns_skb event name [module]"; "*0" = a struct sk_buff **. */
int kbl_target_add(char *line)
{
	struct kbl_target *t;
	unsigned int ret, event;
	char arg[8];
	u8 index;

	if (kbl_nr_targets == KBL_MAX_PROBES)
		return -ENOSPC;
	t = kzalloc(sizeof(*t), GFP_KERNEL);
	if (!t)
		return -ENOMEM;
	if (sscanf(line, "%lx %7s %u %u %63s %31s", &t->addr, arg, &ret, &event, t->name,
		   t->module) < 5)
		goto bad;
	t->indirect = arg[0] == '*';
	if (!strcmp(arg, "-"))
		index = KBL_NO_ARG;
	else if (kstrtou8(arg + t->indirect, 10, &index) || index > 15)
		goto bad;
	t->arg = index;
	t->ret = ret;
	t->event = event;
	t->id = kbl_nr_targets;
	kbl_targets[kbl_nr_targets++] = t;
	return 0;
bad:
	kfree(t);
	return -EINVAL;
}

void kbl_targets_free(void)
{
	while (kbl_nr_targets)
		kfree(kbl_targets[--kbl_nr_targets]);
}

static void kbl_target_arm(struct kbl_target *t, int maxactive)
{
	memset(&t->rp, 0, sizeof(t->rp));
	t->rp.kp.addr = (kprobe_opcode_t *)t->addr;
	t->rp.entry_handler = kbl_on_entry;
	t->rp.handler = kbl_on_exit;
	t->rp.data_size = sizeof(struct kbl_call);
	t->rp.maxactive = maxactive;
	t->error = register_kretprobe(&t->rp);
	t->armed = !t->error;
}

/* Returns how many are armed. */
int kbl_targets_arm(int maxactive)
{
	unsigned int i;
	int armed = 0;

	for (i = 0; i < kbl_nr_targets; i++) {
		kbl_target_arm(kbl_targets[i], maxactive);
		armed += kbl_targets[i]->armed;
	}
	return armed;
}

static u64 kbl_target_missed(const struct kbl_target *t)
{
	return t->missed + (t->armed ? t->rp.nmissed + t->rp.kp.nmissed : 0);
}

void kbl_targets_disarm(void)
{
	struct kretprobe **rps;
	unsigned int i;
	int armed = 0;

	rps = kcalloc(kbl_nr_targets + 1, sizeof(*rps), GFP_KERNEL | __GFP_NOFAIL);
	for (i = 0; i < kbl_nr_targets; i++)
		if (kbl_targets[i]->armed)
			rps[armed++] = &kbl_targets[i]->rp;
	unregister_kretprobes(rps, armed);
	for (i = 0; i < kbl_nr_targets; i++) {
		struct kbl_target *t = kbl_targets[i];

		t->missed = kbl_target_missed(t);
		t->armed = false;
	}
	kfree(rps);
}

u64 kbl_targets_missed(void)
{
	unsigned int i;
	u64 missed = 0;

	for (i = 0; i < kbl_nr_targets; i++)
		missed += kbl_target_missed(kbl_targets[i]);
	return missed;
}

void kbl_targets_show(struct seq_file *m)
{
	unsigned int i;

	for (i = 0; i < kbl_nr_targets; i++) {
		struct kbl_target *t = kbl_targets[i];
		u64 hits = 0;
		int cpu;

		for_each_possible_cpu(cpu)
			hits += per_cpu_ptr(kbl_cpus, cpu)->hits[t->id];
		seq_printf(m, "%u %lx %d %d %llu %llu %s %s\n", t->id, t->addr, t->armed, t->error,
			   hits, kbl_target_missed(t), t->name, t->module);
	}
}
