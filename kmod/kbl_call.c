// SPDX-License-Identifier: GPL-2.0-only
/*
 * Entry and exit of a probed function, as far as that is not kbl_hot.h's.  An
 * entry takes a place in its CPU's table of open calls, an exit writes one CALL
 * and gives it back.  An exit never reads the skb of its entry, it may be freed.
 */
#include <linux/slab.h>

#include "kbl_hot.h"

/* Places whose calls returned on another CPU, or inside another record. */
static void kbl_sweep(struct kbl_cpu *c)
{
	struct kbl_call *call;

	WRITE_ONCE(c->returned, false);
	for (call = c->calls; call < c->calls + KBL_NR_CALLS; call++) {
		/* Pairs with the release in kbl_call_give_back(). */
		if (smp_load_acquire(&call->target) != KBL_CALL_RETURNED)
			continue;
		call->target = NULL;
		call->next = c->free;
		c->free = call;
	}
}
NOKPROBE_SYMBOL(kbl_sweep);

/* Not ours to link: the CPU of the entry sweeps it up when it runs out of places. */
KBL_SELDOM void kbl_call_give_back(struct kbl_call *call)
{
	struct kbl_cpu *owner = call->owner;

	/* Pairs with the acquire in kbl_sweep(): the place is no longer read here. */
	smp_store_release(&call->target, KBL_CALL_RETURNED);
	WRITE_ONCE(owner->returned, true);
}
NOKPROBE_SYMBOL(kbl_call_give_back);

static void kbl_call_record(struct kbl_cpu *c, u8 kind, const struct kbl_call *call, u8 flags)
{
	struct kbl_call_slot *slot = &kbl_head(c)->call;

	slot->kind = kind;
	slot->flags = call->span.flags | flags;
	slot->context = call->span.context;
	slot->func = call->span.func;
	slot->ts = call->span.ts;
	slot->skb = call->span.skb;
	slot->caller = call->span.caller;
	slot->pid = call->span.dur;
}
NOKPROBE_SYMBOL(kbl_call_record);

/* Too many calls are open: the entry and the exit are told apart. */
static unsigned long kbl_enter_unpaired(struct kbl_cpu *c, const struct kbl_call *call)
{
	kbl_batch_begin(c);
	kbl_call_record(c, KBL_ENTRY, call, 0);
	c->unpaired++;
	return kbl_batch_end(c) ? call->span.skb | KBL_UNPAIRED : 0;
}
NOKPROBE_SYMBOL(kbl_enter_unpaired);

/* One packet that passes the filter: what it holds, and what happens to it; false: not so. */
static __always_inline bool kbl_enter_one(struct kbl_cpu *c, const struct kbl_target *t,
					  struct pt_regs *regs, s32 caller, u64 skb, u8 *flags)
{
	if (!t->one || !kbl_is_kernel(skb) ||
	    (static_branch_unlikely(&kbl_filter_on) && !kbl_filter_accepted(skb)))
		return false;
	/* At kfree_skbmem() the data is already given back. */
	if (t->event != KBL_EV_FREE && unlikely(!kbl_skb_tell_alone(c, skb)))
		*flags |= KBL_FLAG_EXT_LOST;
	if (t->entry_event) {
		kbl_batch_begin(c);
		kbl_life_entry(c, t, regs, skb, caller);
		if (!kbl_batch_end(c))
			*flags |= KBL_FLAG_EXT_LOST;
	}
	return true;
}

/* The place of a call that is to be told, or a token for its exit alone. */
static __always_inline unsigned long kbl_enter_told(struct kbl_cpu *c, struct kbl_target *t,
						    struct pt_regs *regs, u64 head, s32 caller,
						    u64 skb)
{
	struct kbl_call *call;

	if (!c->free && READ_ONCE(c->returned))
		kbl_sweep(c);
	call = c->free;
	if (unlikely(!call)) {
		kbl_call_fill(&c->spare, head, c->now, skb, caller, t->trap);
		return kbl_enter_unpaired(c, &c->spare);
	}
	c->free = call->next;
	kbl_call_fill(call, head, c->now, skb, caller, t->trap);
	call->target = t;
	if (static_branch_unlikely(&kbl_counter_on))
		call->counter = kbl_counter_read();
	/* After next was read: they lie in one place. */
	if (t->exit_event)
		call->data = kbl_life_data(t, regs);
	return (unsigned long)call;
}

/* At the instant c->now: with packets to be told, or events, or without room in the table. */
static __always_inline unsigned long kbl_enter_any(struct kbl_cpu *c, struct kbl_target *t,
						   struct pt_regs *regs)
{
	u64 skb = *(unsigned long *)((u8 *)regs + t->plain), head = t->head | c->head;
	s32 caller = kbl_caller(regs, &head);
	u8 flags = 0;

	if (!kbl_enter_one(c, t, regs, caller, skb, &flags)) {
		if (static_branch_unlikely(&kbl_filter_on) || !(t->none || t->sock)) {
			if (!kbl_carry(c, t, regs, caller))
				return 0;
			skb = c->entered;
			flags = c->entered_flags;
		} else if (t->sock && skb) {
			flags = KBL_FLAG_SOCK;
		} else {
			skb = 0;
		}
	}
	if (unlikely(t->quiet && !t->exit_event))
		return 0;
	return kbl_enter_told(c, t, regs, head | KBL_HEAD(flags, flags), caller, skb);
}

/* As kbl_enter_as(), of which it is the rest. */
int kbl_enter_slow(struct kbl_cpu *c, struct kbl_target *t, struct pt_regs *regs,
		   unsigned long *token)
{
	unsigned long made = kbl_enter_any(c, t, regs);

	*token = made;
	kbl_idle(c);
	return !made;
}
NOKPROBE_SYMBOL(kbl_enter_slow);

/*
 * The rest of kbl_enter_as() where only what the packet holds is to be told: the
 * place of the call is filled.
 */
int kbl_enter_untold(struct kbl_cpu *c, struct kbl_target *t, struct pt_regs *regs,
		     unsigned long *token)
{
	struct kbl_call *call = c->free;

	if (unlikely(!kbl_is_kernel(call->span.skb)))
		return kbl_enter_slow(c, t, regs, token);
	if (unlikely(!kbl_skb_tell_alone(c, call->span.skb)))
		call->span.flags |= KBL_FLAG_EXT_LOST;
	c->free = call->next;
	call->target = t;
	*token = (unsigned long)call;
	kbl_idle(c);
	return 0;
}
NOKPROBE_SYMBOL(kbl_enter_untold);

static void kbl_counter_ext(struct kbl_cpu *c, const struct kbl_call *call)
{
	struct kbl_ext_counter *ext = &kbl_ext(c, KBL_EXT_COUNTER)->counter;

	ext->valid = call->owner == c && call->counter && c->counter;
	ext->event = kbl_counter_event();
	ext->count = c->counter - call->counter;
}
NOKPROBE_SYMBOL(kbl_counter_ext);

/* With anything to be told beside the CALL, or without room for it. */
static void kbl_leave_paired(struct kbl_cpu *c, struct kbl_call *call, unsigned long ret)
{
	const struct kbl_target *t = call->target;
	union kbl_slot *head, two[2] KBL_NOT_CLEARED;

	kbl_batch_begin(c);
	if (!t->quiet) {
		unsigned int n = kbl_write_call(two, call, t, c->now, ret);

		head = kbl_head(c);
		*head = two[0];
		if (n > 1)
			*kbl_ext(c, KBL_EXT_CALL) = two[1];
		if (static_branch_unlikely(&kbl_counter_on)) {
			kbl_counter_ext(c, call);
			head->span.ext++;
		}
	}
	if (t->exit_event)
		kbl_life_exit(c, call, t->returns == KBL_RETURNS_INT ? (int)ret : ret);
	kbl_batch_end(c);
	kbl_call_free(c, call);
}
NOKPROBE_SYMBOL(kbl_leave_paired);

static void kbl_leave_unpaired(struct kbl_cpu *c, struct kbl_target *t, unsigned long token,
			       unsigned long ret)
{
	struct kbl_call call;

	/* A return is never reached by a breakpoint. */
	kbl_call_fill(&call, t->head | c->head, c->now, token & ~KBL_UNPAIRED, ret, false);
	kbl_batch_begin(c);
	kbl_call_record(c, KBL_EXIT, &call, 0);
	kbl_batch_end(c);
}
NOKPROBE_SYMBOL(kbl_leave_unpaired);

/* At the instant c->now, with c->busy set. */
void kbl_leave_slow(struct kbl_cpu *c, struct kbl_target *t, unsigned long token,
		    unsigned long ret)
{
	if (static_branch_unlikely(&kbl_counter_on))
		c->counter = kbl_counter_read();
	if (unlikely(token & KBL_UNPAIRED))
		kbl_leave_unpaired(c, t, token, ret);
	else
		kbl_leave_paired(c, (struct kbl_call *)token, ret);
	kbl_idle(c);
}
NOKPROBE_SYMBOL(kbl_leave_slow);

/* Inside another record on this CPU: the call is lost. */
KBL_SELDOM void kbl_leave_nested(struct kbl_cpu *c, unsigned long token)
{
	kbl_nested(c);
	if (!(token & KBL_UNPAIRED))
		kbl_call_give_back((struct kbl_call *)token);
}
NOKPROBE_SYMBOL(kbl_leave_nested);

int kbl_calls_init(void)
{
	int cpu;

	for_each_possible_cpu(cpu) {
		struct kbl_cpu *c = per_cpu_ptr(kbl_cpus, cpu);
		int node = cpu_to_node(cpu);

		c->calls = kvzalloc_node(KBL_NR_CALLS * sizeof(*c->calls), GFP_KERNEL, node);
		c->known = kvzalloc_node(sizeof(*c->known) << KBL_KNOWN_BITS, GFP_KERNEL, node);
		c->hits = kvzalloc_node(KBL_MAX_PROBES * sizeof(*c->hits), GFP_KERNEL, node);
		c->refused = kvzalloc_node(sizeof(*c->refused) << KBL_KNOWN_BITS, GFP_KERNEL, node);
		if (!c->calls || !c->known || !c->refused || !c->hits)
			return -ENOMEM;
	}
	kbl_calls_reset();
	return 0;
}

void kbl_calls_exit(void)
{
	int cpu;

	for_each_possible_cpu(cpu) {
		struct kbl_cpu *c = per_cpu_ptr(kbl_cpus, cpu);

		kvfree(c->hits);
		kvfree(c->refused);
		kvfree(c->known);
		kvfree(c->calls);
	}
}

/* All places free; only while nothing is armed. */
void kbl_calls_reset(void)
{
	unsigned int i;
	int cpu;

	for_each_possible_cpu(cpu) {
		struct kbl_cpu *c = per_cpu_ptr(kbl_cpus, cpu);

		c->head = KBL_HEAD(entry_cpu, cpu);
		c->free = NULL;
		c->returned = false;
		for (i = KBL_NR_CALLS; i-- > 0;) {
			c->calls[i].owner = c;
			c->calls[i].target = NULL;
			c->calls[i].next = c->free;
			c->free = &c->calls[i];
		}
	}
}

/* Nothing is armed any more: what is still in the table never returned while we looked. */
static void kbl_close_this_cpu(void *unused)
{
	struct kbl_call *call;
	unsigned long irq;
	struct kbl_cpu *c = kbl_batch_open(&irq);

	if (!c)
		return;
	for (call = c->calls; call < c->calls + KBL_NR_CALLS; call++) {
		if (!call->target || call->target == KBL_CALL_RETURNED || call->target->quiet)
			continue;
		kbl_call_record(c, KBL_ENTRY, call, KBL_FLAG_OPEN);
		c->open++;
	}
	kbl_batch_close(c, irq);
}

/* Tell the calls that have not returned. */
void kbl_calls_close(void)
{
	on_each_cpu(kbl_close_this_cpu, NULL, 1);
	kbl_calls_reset();
}
