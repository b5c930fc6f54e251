// SPDX-License-Identifier: GPL-2.0-only
/*
 * Entry and exit of a probed function: THE hot path.  An entry takes a place
 * in its CPU's table of open calls, an exit writes one CALL and gives it back.
 * An exit never reads the skb of its entry, it may be freed.
 */
#include <linux/err.h>
#include <linux/slab.h>

#include "kbl_hot.h"

/* What a back end keeps between entry and exit: 0, a struct kbl_call, or an skb with this set. */
#define KBL_UNPAIRED 1UL

/* Places whose calls returned on another CPU. */
static noinline void kbl_sweep(struct kbl_cpu *c)
{
	unsigned int i;

	WRITE_ONCE(c->returned, false);
	for (i = 0; i < KBL_NR_CALLS; i++) {
		struct kbl_call *call = &c->calls[i];

		/* Pairs with the release in kbl_call_give_back(). */
		if (smp_load_acquire(&call->remote)) {
			call->remote = false;
			call->target = NULL;
			call->next = c->free;
			c->free = i;
		}
	}
}
NOKPROBE_SYMBOL(kbl_sweep);

static __always_inline struct kbl_call *kbl_call_take(struct kbl_cpu *c)
{
	struct kbl_call *call;

	if (unlikely(c->free == KBL_NR_CALLS) && READ_ONCE(c->returned))
		kbl_sweep(c);
	if (unlikely(c->free == KBL_NR_CALLS))
		return NULL;
	call = &c->calls[c->free];
	c->free = call->next;
	return call;
}

/* Not ours to link: the CPU of the entry sweeps it up when it runs out of places. */
static void kbl_call_give_back(struct kbl_call *call)
{
	struct kbl_cpu *owner = per_cpu_ptr(kbl_cpus, call->cpu);

	/* Pairs with the acquire in kbl_sweep(): the place is no longer read here. */
	smp_store_release(&call->remote, true);
	WRITE_ONCE(owner->returned, true);
}
NOKPROBE_SYMBOL(kbl_call_give_back);

static __always_inline void kbl_call_free(struct kbl_cpu *c, struct kbl_call *call)
{
	if (likely(call->cpu == smp_processor_id())) {
		call->target = NULL;
		call->next = c->free;
		c->free = call - c->calls;
		return;
	}
	kbl_call_give_back(call);
}

static struct kbl_call_slot *kbl_call_record(struct kbl_cpu *c, u8 kind,
					     const struct kbl_call *call)
{
	struct kbl_call_slot *slot = &kbl_head(c)->call;

	slot->kind = kind;
	slot->flags = call->flags;
	slot->context = call->context;
	slot->func = call->target->id;
	slot->ts = call->ts;
	slot->skb = call->skb;
	slot->caller = call->caller;
	slot->pid = call->pid;
	return slot;
}
NOKPROBE_SYMBOL(kbl_call_record);

/* Too many calls are open: the entry and the exit are told apart. */
static noinline unsigned long kbl_enter_unpaired(struct kbl_cpu *c, const struct kbl_call *call)
{
	bool whole;

	kbl_batch_begin(c);
	kbl_call_record(c, KBL_ENTRY, call);
	whole = kbl_batch_end(c);
	c->unpaired++;
	return whole ? call->skb | KBL_UNPAIRED : 0;
}
NOKPROBE_SYMBOL(kbl_enter_unpaired);

/*
 * The beginning of a call; 0: its return is not to be told.  Preemption is off.
 */
unsigned long kbl_enter(struct kbl_target *t, struct pt_regs *regs)
{
	struct kbl_packets packets = {};
	struct kbl_call *call, spare;
	unsigned long token = 0;
	struct kbl_cpu *c;
	unsigned long irq;
	s32 caller;

	if (unlikely(!READ_ONCE(kbl_active)))
		return 0;
	local_irq_save(irq);
	c = this_cpu_ptr(kbl_cpus);
	if (unlikely(c->busy)) {
		kbl_nested(c);
		goto out;
	}
	c->busy = true;
	kbl_instant(c);
	c->hits[t->id]++;
	caller = kbl_caller(regs, &packets.flags);
	if (likely(t->plain) && !static_branch_unlikely(&kbl_filter_on))
		packets.skb = *(unsigned long *)((u8 *)regs + t->plain);
	if (unlikely(!packets.skb || !kbl_skb_told(c, packets.skb) || t->entry_event)) {
		if (!kbl_carry(c, t, regs, caller, &packets))
			goto idle;
	}
	call = kbl_call_take(c);
	if (unlikely(!call))
		call = &spare;
	call->ts = c->now;
	call->skb = packets.skb;
	call->target = t;
	call->caller = caller;
	call->pid = current->pid;
	call->cpu = smp_processor_id();
	call->flags = packets.flags;
	call->context = kbl_context(t->trap);
	token = (unsigned long)call;
	if (unlikely(t->exit_event))
		call->data = kbl_life_data(t, regs);
	if (unlikely(call == &spare))
		token = kbl_enter_unpaired(c, call);
	else if (static_branch_unlikely(&kbl_counter_on))
		call->counter = kbl_counter_read();
idle:
	c->busy = false;
out:
	local_irq_restore(irq);
	return token;
}
NOKPROBE_SYMBOL(kbl_enter);

static __always_inline long kbl_returned(const struct kbl_target *t, const struct pt_regs *regs)
{
	long ret = kbl_ret(regs);

	switch (t->returns) {
	case KBL_RETURNS_VOID:
		return 0;
	case KBL_RETURNS_BOOL:
		return (u8)ret;
	case KBL_RETURNS_INT:
		return (int)ret;
	}
	return ret;
}

/* All of a CALL, into zeroed or used slots; returns how many. */
static __always_inline unsigned int kbl_write_call(union kbl_slot *slot,
						   const struct kbl_call *call, u64 now, long ret)
{
	u64 dur = now - call->ts;
	struct kbl_span_slot head = {
		.kind = KBL_CALL,
		.flags = call->flags,
		.context = call->context,
		.func = call->target->id,
		.entry_cpu = call->cpu,
		.ts = call->ts,
		.skb = call->skb,
		.caller = call->caller,
		.dur = dur,
	};

	if (likely(!ret && dur < U32_MAX)) {
		slot->span = head;
		return 1;
	}
	if (dur >= U32_MAX)
		head.dur = U32_MAX;
	if (call->target->ret_skb && kbl_is_kernel(ret))
		head.flags |= KBL_FLAG_SKB_IS_RET;
	head.ext = 1;
	slot[0].span = head;
	slot[1].ext_call = (struct kbl_ext_call){
		.kind = KBL_EXT,
		.type = KBL_EXT_CALL,
		.dur = dur,
		.ret = ret,
	};
	return 2;
}

/* With anything to be told beside the CALL, or without room for it. */
static noinline void kbl_leave_batch(struct kbl_cpu *c, const struct kbl_call *call, long ret)
{
	const struct kbl_target *t = call->target;
	union kbl_slot *head, two[2];
	unsigned int i, n;

	kbl_batch_begin(c);
	if (!t->quiet) {
		n = kbl_write_call(two, call, c->now, ret);
		head = kbl_head(c);
		head[0] = two[0];
		for (i = 1; i < n; i++)
			*kbl_ext(c, KBL_EXT_CALL) = two[i];
		if (static_branch_unlikely(&kbl_counter_on)) {
			struct kbl_ext_counter *ext = &kbl_ext(c, KBL_EXT_COUNTER)->counter;

			ext->valid = call->cpu == smp_processor_id();
			ext->event = kbl_counter_event();
			ext->count = c->counter - call->counter;
			head->span.ext++;
		}
	}
	if (t->exit_event)
		kbl_life_exit(c, call, ret);
	kbl_batch_end(c);
}
NOKPROBE_SYMBOL(kbl_leave_batch);

static noinline void kbl_leave_unpaired(struct kbl_cpu *c, struct kbl_target *t, u64 skb, long ret)
{
	struct kbl_call call = {
		.ts = c->now,
		.skb = skb,
		.target = t,
		.caller = ret,
		.pid = current->pid,
		.context = kbl_context(false),
	};

	kbl_batch_begin(c);
	kbl_call_record(c, KBL_EXIT, &call);
	kbl_batch_end(c);
}
NOKPROBE_SYMBOL(kbl_leave_unpaired);

/* The end of a call that kbl_enter() gave @token for. */
void kbl_leave(struct kbl_target *t, unsigned long token, struct pt_regs *regs)
{
	struct kbl_call *call = (struct kbl_call *)token;
	union kbl_slot *slot;
	struct kbl_cpu *c;
	unsigned long irq;
	unsigned int n;
	long ret;

	if (unlikely(!token))
		return;
	local_irq_save(irq);
	c = this_cpu_ptr(kbl_cpus);
	if (unlikely(c->busy)) {
		kbl_nested(c);
		if (!(token & KBL_UNPAIRED))
			kbl_call_give_back(call);
		goto out;
	}
	c->busy = true;
	kbl_instant(c);
	if (static_branch_unlikely(&kbl_counter_on))
		c->counter = kbl_counter_read();
	ret = kbl_returned(t, regs);
	if (unlikely(token & KBL_UNPAIRED)) {
		kbl_leave_unpaired(c, t, token & ~KBL_UNPAIRED, ret);
		goto idle;
	}
	slot = kbl_room(c, 2);
	if (unlikely(!slot || c->slow || t->exit_event || !kbl_task_told(c)) ||
	    static_branch_unlikely(&kbl_counter_on)) {
		kbl_leave_batch(c, call, ret);
	} else {
		n = kbl_write_call(slot, call, c->now, ret);
		kbl_put(c, n);
		c->written++;
	}
	kbl_call_free(c, call);
idle:
	c->busy = false;
out:
	local_irq_restore(irq);
}
NOKPROBE_SYMBOL(kbl_leave);

int kbl_calls_init(void)
{
	int cpu;

	for_each_possible_cpu(cpu) {
		struct kbl_cpu *c = per_cpu_ptr(kbl_cpus, cpu);
		int node = cpu_to_node(cpu);

		c->calls = kvzalloc_node(KBL_NR_CALLS * sizeof(*c->calls), GFP_KERNEL, node);
		c->known = kvzalloc_node(sizeof(*c->known) << KBL_KNOWN_BITS, GFP_KERNEL, node);
		c->hits = kvzalloc_node(KBL_MAX_PROBES * sizeof(*c->hits), GFP_KERNEL, node);
		if (!c->calls || !c->known || !c->hits)
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

		memset(c->calls, 0, KBL_NR_CALLS * sizeof(*c->calls));
		for (i = 0; i < KBL_NR_CALLS; i++)
			c->calls[i].next = i + 1;
		c->free = 0;
		c->returned = false;
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
		if (!call->target || call->remote || call->target->quiet)
			continue;
		call->flags |= KBL_FLAG_OPEN;
		kbl_call_record(c, KBL_ENTRY, call);
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
