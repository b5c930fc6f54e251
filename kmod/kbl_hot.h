/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What every call of a probed function runs through; each instruction here is
 * paid twice a call.  All inline, so nothing of it can be probed.
 */
#ifndef KBL_HOT_H
#define KBL_HOT_H

#include <linux/hardirq.h>
#include <linux/hash.h>
#include <linux/sched.h>
#include <linux/timekeeping.h>
#ifdef CONFIG_RETHOOK
#include <linux/rethook.h>
#endif

#include "kbl_arch.h"
#include "kbl_internal.h"

#define KBL_CLOCK_SHIFT 22	/* cycles of 100 us times a multiplier fit */

/* Where a field of a slot lies in its first word. */
#ifdef __BIG_ENDIAN
#define KBL_FIELD(type, field, value) ((u64)(value) << (64 - 8 * offsetofend(type, field)))
#else
#define KBL_FIELD(type, field, value) ((u64)(value) << (8 * offsetof(type, field)))
#endif
#define KBL_HEAD(field, value) KBL_FIELD(struct kbl_span_slot, field, value)
#define KBL_EVENT_HEAD(field, value) KBL_FIELD(struct kbl_event_slot, field, value)

/* What a back end keeps between entry and exit: 0, a struct kbl_call, or an skb with this set. */
#define KBL_UNPAIRED 1UL

/* The next instant: no clock is trusted not to step back. */
static __always_inline u64 kbl_instant(struct kbl_cpu *c)
{
	u64 now;
#ifdef KBL_ARCH_CYCLES
	u64 cycles = kbl_cycles() - c->clock_cycles;

	if (likely(cycles < c->clock_limit))
		now = c->clock_ns + (cycles * c->clock_mult >> KBL_CLOCK_SHIFT);
	else
#endif
		now = kbl_clock_read(c);
	if (unlikely(now <= c->now))
		now = c->now + 1;
	c->now = now;
	return now;
}

/* @trap: we stand in a breakpoint's handler, which looks like an NMI. */
static __always_inline u8 kbl_context(bool trap)
{
	unsigned int count = preempt_count();

	if (trap && count & NMI_MASK)
		count -= NMI_OFFSET + HARDIRQ_OFFSET;
	if (likely(!(count & (NMI_MASK | HARDIRQ_MASK))))
		return softirq_count() & SOFTIRQ_OFFSET ? KBL_CTX_SOFTIRQ : KBL_CTX_TASK;
	return count & NMI_MASK ? KBL_CTX_NMI : KBL_CTX_HARDIRQ;
}

/*
 * The return address as an offset from _stext.  After a tail call the stack
 * holds a return hook of the function that jumped: the hooks of one frame
 * stack up, and the oldest of them knows the real address.
 */
static __always_inline s32 kbl_caller(const struct pt_regs *regs, u64 *head)
{
	unsigned long addr = kbl_return_address(regs);
	s64 offset;
#ifdef CONFIG_RETHOOK
	struct llist_node *n;

	for (n = current->rethooks.first; n; n = n->next) {
		struct rethook_node *node = container_of(n, struct rethook_node, llist);

		if (likely(node->frame != kbl_frame(regs)))
			break;
		addr = node->ret_addr;
		*head |= KBL_HEAD(flags, KBL_FLAG_TAIL_CALL);
	}
#endif
	offset = addr - kbl_stext;
	if (KBL_ARCH_NEAR || likely(offset == (s32)offset))
		return offset;
	*head |= KBL_HEAD(flags, KBL_FLAG_NO_CALLER);
	return 0;
}

/* Was the thread that runs here the last one told? */
static __always_inline bool kbl_task_told(const struct kbl_cpu *c)
{
	const struct task_struct *p = current;
	const u64 *comm = (const u64 *)p->comm;

	return c->task_pid == p->pid && c->task_comm[0] == comm[0] && c->task_comm[1] == comm[1];
}

static __always_inline unsigned int kbl_known_index(u64 addr)
{
	return ((u32)(addr >> 5) * GOLDEN_RATIO_32) >> (32 - KBL_KNOWN_BITS);
}

static __always_inline struct kbl_known *kbl_known_slot(struct kbl_cpu *c, u64 addr)
{
	return &c->known[kbl_known_index(addr)];
}

/* Are the headers where they were, if that is all that may have moved, and what they were? */
static __always_inline bool kbl_headers_told(const struct kbl_known *k, const struct sk_buff *skb)
{
	const u64 *l3 = k->l3, *l4 = k->l4;

	if (!kbl_same64(l3, k->l3_word[0]) || !kbl_same64(l3 + 1, k->l3_word[1]) ||
	    !kbl_same32(l3 + 2, k->l3_word[2]) ||
	    !kbl_same64(l4, k->l4_word[0]) || !kbl_same64(l4 + 1, k->l4_word[1]))
		return false;
	return likely(!k->watch) || kbl_watched_told(k, skb);
}

/*
 * Headers are pushed and pulled at every layer; what lies behind data ends where
 * it ended then, and only what is added or cut off counts.
 */
static __always_inline bool kbl_end_told(const struct kbl_known *k, const struct sk_buff *skb)
{
	return kbl_same_sum((const u64 *)&skb->data, &skb->len, k->end);
}

/* Does the skb still hold what @k says? */
static __always_inline bool kbl_known_holds(const struct kbl_known *k, u64 addr)
{
	const struct sk_buff *skb = (const struct sk_buff *)(unsigned long)addr;

	return likely(k->watched == addr) &&
	       kbl_same64(&skb->dev, k->dev) && kbl_same64(&skb->sk, k->sk) &&
	       kbl_same64(&skb->head, k->head) && kbl_end_told(k, skb) &&
	       kbl_same32(&skb->mark, k->mark) && kbl_same16(&skb->protocol, k->protocol) &&
	       kbl_same16(&skb->network_header, k->network) &&
	       kbl_same32(k->gso, k->gso_word) && kbl_headers_told(k, skb);
}

/* Does the skb still hold what this CPU told of it? */
static __always_inline bool kbl_skb_told(struct kbl_cpu *c, u64 addr)
{
	return kbl_known_holds(kbl_known_slot(c, addr), addr);
}

/* Room for whole slots in the current sub-buffer, or NULL. */
static __always_inline union kbl_slot *kbl_room(const struct kbl_cpu *c, unsigned int slots)
{
	struct rchan_buf *buf = c->buf;

	if (unlikely(!buf || buf->offset + slots * KBL_SLOT_SIZE > c->end))
		return NULL;
	return buf->data + buf->offset;
}

/* The slots are filled: let the reader see them, the data before the offset. */
static __always_inline void kbl_put(struct kbl_cpu *c, unsigned int slots)
{
	struct rchan_buf *buf = c->buf;

	/* Pairs with the reader in relay_file_read(). */
	smp_wmb();
	WRITE_ONCE(buf->offset, buf->offset + slots * KBL_SLOT_SIZE);
}

/* All of the head slot of an event. */
static __always_inline void kbl_event_fill(union kbl_slot *slot, u64 now, u8 event, u8 ext,
					   u64 skb, u64 data)
{
	slot->words[0] = KBL_EVENT_HEAD(kind, KBL_EVENT) | KBL_EVENT_HEAD(event, event) |
			 KBL_EVENT_HEAD(context, kbl_context(false)) | KBL_EVENT_HEAD(ext, ext) |
			 KBL_EVENT_HEAD(pid, (u32)current->pid);
	slot->event.ts = now;
	slot->event.skb = skb;
	slot->event.data = data;
}

/* All but its target, which makes it a call. */
static __always_inline void kbl_call_fill(struct kbl_call *call, u64 head, u64 now, u64 skb,
					  s32 caller, bool trap)
{
	call->words[0] = head | KBL_HEAD(context, kbl_context(trap));
	call->span.ts = now;
	call->span.skb = skb;
	call->span.caller = caller;
	call->span.dur = current->pid;
}

/*
 * The end of what was begun with interrupts off, then c->busy set, and only then
 * c->irq, where it takes no register: an NMI that sees c->busy leaves it alone.
 */
static __always_inline void kbl_idle(struct kbl_cpu *c)
{
	unsigned long irq = READ_ONCE(c->irq);

	WRITE_ONCE(c->busy, false);
	local_irq_restore(irq);
}

/*
 * The beginning of a call; 1: its return is not to be told, 0: it is, by *@token.
 * Preemption is off.  @trap: by a breakpoint, which some back ends know never to be.
 * Only while armed: a back end that arms one after the other uses kbl_enter().
 *
 * The place of the call is filled before it is known whether it is taken: so
 * little is at hand at the same time that it fits the registers.
 */
static __always_inline int kbl_enter_as(struct kbl_target *t, struct pt_regs *regs, bool trap,
					unsigned long *token)
{
	struct kbl_call *call;
	unsigned long irq;
	struct kbl_cpu *c;
	u64 now, skb, head;
	s32 caller;

	local_irq_save(irq);
	c = this_cpu_ptr(kbl_cpus);
	if (unlikely(c->busy)) {
		kbl_nested(c);
		local_irq_restore(irq);
		return 1;
	}
	WRITE_ONCE(c->busy, true);
	WRITE_ONCE(c->irq, irq);
	now = kbl_instant(c);
	c->hits[t->id]++;
	call = c->free;
	if (static_branch_unlikely(&kbl_filter_on) || static_branch_unlikely(&kbl_counter_on) ||
	    unlikely(t->slow || !call))
		return kbl_enter_slow(c, t, regs, token);
	head = t->head | c->head;
	caller = kbl_caller(regs, &head);
	skb = *(unsigned long *)((u8 *)regs + t->plain);
	kbl_call_fill(call, head, now, skb, caller, trap);
	if (unlikely(!kbl_skb_told(c, skb)))
		return kbl_enter_untold(c, t, regs, token);
	c->free = call->next;
	call->target = t;
	*token = (unsigned long)call;
	kbl_idle(c);
	return 0;
}

/* The same; returns the token, 0: its return is not to be told. */
static __always_inline unsigned long kbl_enter(struct kbl_target *t, struct pt_regs *regs,
					       bool trap)
{
	unsigned long token = 0;

	if (unlikely(!READ_ONCE(kbl_active)))
		return 0;
	kbl_enter_as(t, regs, trap, &token);
	return token;
}

/* Only the CPU of the entry may link it. */
static __always_inline void kbl_call_free(struct kbl_cpu *c, struct kbl_call *call)
{
	if (unlikely(call->owner != c)) {
		kbl_call_give_back(call);
		return;
	}
	call->target = NULL;
	call->next = c->free;
	c->free = call;
}

/* The slot of a CALL with a return value, or a duration, of its own. */
static __always_inline void kbl_write_ext(union kbl_slot *slot, const struct kbl_target *t,
					  u64 dur, long ret)
{
	if (t->returns == KBL_RETURNS_INT)
		ret = (int)ret;
	if (unlikely(dur >= U32_MAX))
		slot->span.dur = U32_MAX;
	if (t->ret_skb && kbl_is_kernel(ret))
		slot->span.flags |= KBL_FLAG_SKB_IS_RET;
	slot->span.ext = 1;
	slot[1].words[0] = 0;
	slot[1].ext_call.kind = KBL_EXT;
	slot[1].ext_call.type = KBL_EXT_CALL;
	slot[1].ext_call.dur = dur;
	slot[1].ext_call.ret = ret;
	slot[1].ext_call.pad3 = 0;
}

/* A CALL into used slots; returns how many. */
static __always_inline unsigned int kbl_write_call(union kbl_slot *slot,
						   const struct kbl_call *call,
						   const struct kbl_target *t, u64 now,
						   unsigned long ret)
{
	u64 dur = now - call->span.ts;

	slot->words[0] = call->words[0];
	slot->words[1] = call->words[1];
	slot->words[2] = call->words[2];
	slot->span.caller = call->span.caller;
	slot->span.dur = dur;
	if (!(ret | (dur + 1) >> 32))
		return 1;
	kbl_write_ext(slot, t, dur, ret);
	return 2;
}

/* The end of a call that kbl_enter() gave @token for. */
static __always_inline void kbl_leave(struct kbl_target *t, unsigned long token,
				      struct pt_regs *regs)
{
	struct kbl_call *call = (struct kbl_call *)token;
	unsigned long irq, ret;
	struct rchan_buf *buf;
	struct kbl_cpu *c;
	size_t offset;
	u64 now;

	local_irq_save(irq);
	c = this_cpu_ptr(kbl_cpus);
	if (unlikely(c->busy)) {
		kbl_leave_nested(c, token);
		local_irq_restore(irq);
		return;
	}
	WRITE_ONCE(c->busy, true);
	now = kbl_instant(c);
	ret = kbl_ret(regs) & t->ret_mask;
	if (static_branch_unlikely(&kbl_counter_on) || unlikely(c->slow || t->exit_event) ||
	    unlikely(token & KBL_UNPAIRED) || unlikely(!kbl_task_told(c)))
		goto slow;
	buf = c->buf;
	offset = buf->offset;
	if (unlikely(offset > c->limit))
		goto slow;
	offset += kbl_write_call(buf->data + offset, call, t, now, ret) * KBL_SLOT_SIZE;
	/* Pairs with the reader, as in kbl_put(). */
	smp_wmb();
	WRITE_ONCE(buf->offset, offset);
	c->written++;
	kbl_call_free(c, call);
	WRITE_ONCE(c->busy, false);
	local_irq_restore(irq);
	return;
slow:
	WRITE_ONCE(c->irq, irq);
	kbl_leave_slow(c, t, token, ret);
}

#endif /* KBL_HOT_H */
