/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The inline path of each call of a probed function.  Every instruction here is executed twice
 * a call.  All functions are inline, so none of them can be probed.
 */
#ifndef KBL_HOT_H
#define KBL_HOT_H

#include <linux/hardirq.h>
#include <linux/sched.h>
#include <linux/timekeeping.h>

#include "kbl_arch.h"
#include "kbl_internal.h"
#include "kbl_known.h"

#define KBL_CLOCK_SHIFT 32	/* shift of the multiplier from cycles to ns, see kbl_scale() */

/* Position of a slot's field in its first word. */
#ifdef __BIG_ENDIAN
#define KBL_FIELD(type, field, value) ((u64)(value) << (64 - 8 * offsetofend(type, field)))
#else
#define KBL_FIELD(type, field, value) ((u64)(value) << (8 * offsetof(type, field)))
#endif
#define KBL_HEAD(field, value) KBL_FIELD(struct kbl_span_slot, field, value)
#define KBL_EVENT_HEAD(field, value) KBL_FIELD(struct kbl_event_slot, field, value)

/* Read the time from cycles.  Valid only if kbl_instant_new() returns true. */
static __always_inline u64 kbl_instant_guess(struct kbl_cpu *c)
{
#ifdef KBL_ARCH_CYCLES
	return kbl_scale(kbl_cycles(), c->clock_mult) + c->clock_base;
#else
	return kbl_clock_read(c);
#endif
}

/* Times of a CPU must increase, and cycles are trusted only until clock_until. */
static __always_inline bool kbl_instant_new(const struct kbl_cpu *c, u64 now)
{
#ifdef KBL_ARCH_CYCLES
	return likely(now < c->clock_until) && likely(now > c->now);
#else
	return true;
#endif
}

/* Return the next time of this CPU. */
static __always_inline u64 kbl_instant(struct kbl_cpu *c)
{
	u64 now = kbl_instant_guess(c);

	if (unlikely(!kbl_instant_new(c, now)))
		now = kbl_clock_read(c);
	c->now = now;
	return now;
}

/* @trap: the probe is in a breakpoint handler, which looks like an NMI. */
static __always_inline u8 kbl_context(bool trap)
{
	unsigned int count = preempt_count();

	if (trap && count & NMI_MASK)
		count -= NMI_OFFSET + HARDIRQ_OFFSET;
	if (likely(!(count & (NMI_MASK | HARDIRQ_MASK))))
		return (count & SOFTIRQ_OFFSET) / SOFTIRQ_OFFSET * KBL_CTX_SOFTIRQ;
	return count & NMI_MASK ? KBL_CTX_NMI : KBL_CTX_HARDIRQ;
}

/* The return address as an offset from _stext. */
static __always_inline s32 kbl_caller_offset(unsigned long addr, u64 *head)
{
	s64 offset = addr - kbl_stext;

	if (KBL_ARCH_NEAR || likely(offset == (s32)offset))
		return offset;
	*head |= KBL_HEAD(flags, KBL_FLAG_NO_CALLER);
	return 0;
}

/* Is current the thread of the last TASK record?  kbl_clock_read() checks its name. */
static __always_inline bool kbl_thread_same(const struct kbl_cpu *c)
{
	return c->last_who.pid == current->pid;
}

/* Is current the thread of the last TASK record, and does it still have that name? */
static __always_inline bool kbl_task_same(const struct kbl_cpu *c)
{
	const u64 *comm = (const u64 *)current->comm;

	return kbl_thread_same(c) && c->task_comm[0] == comm[0] && c->task_comm[1] == comm[1];
}

/* Room for @slots slots in the current sub-buffer, or NULL. */
static __always_inline union kbl_slot *kbl_room(const struct kbl_cpu *c, unsigned int slots)
{
	return likely(c->at + slots <= c->end) ? c->at : NULL;
}

/* Publish the slots up to @to: the data must be visible before c->at. */
static __always_inline void kbl_put(struct kbl_cpu *c, union kbl_slot *to)
{
	/* Pairs with the reader in kbl_readable(). */
	smp_wmb();
	WRITE_ONCE(c->at, to);
}

/* Records were lost, or calls nested: a LOST record must precede the next record. */
static __always_inline void kbl_slow(struct kbl_cpu *c)
{
	c->slow = true;
	WRITE_ONCE(c->limit, NULL);
}

/* Fill the whole head slot of an event. */
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

/* True if the batch has no room for one more record with all its EXT slots. */
static __always_inline bool kbl_batch_full(const struct kbl_cpu *c)
{
	return c->nslots + 1 + KBL_MAX_EXT > KBL_BATCH_SLOTS;
}

/* Reserve a head slot.  The caller must fill it completely. */
static __always_inline union kbl_slot *kbl_head_raw(struct kbl_cpu *c)
{
	if (unlikely(kbl_batch_full(c)))
		kbl_batch_part(c);
	c->nheads++;
	c->nlosable++;
	return &c->base[c->nslots++];
}

/*
 * Fill everything but call->target.  Until the target is set the entry is free, so @head may
 * still change.
 */
static __always_inline void kbl_call_fill(struct kbl_call *call, u64 head, u64 now, u64 skb,
					  s32 caller, bool trap)
{
	call->span.ts = now;
	call->span.skb = skb;
	call->span.caller = caller;
	call->who.pid = current->pid;
	call->words[0] = head | KBL_HEAD(context, kbl_context(trap));
}

/*
 * A record is written between kbl_busy() and kbl_idle(), with interrupts off.  An NMI in
 * between sees c->irq and changes nothing.  An NMI before kbl_busy() restores everything it
 * changed.
 */
static __always_inline bool kbl_is_busy(const struct kbl_cpu *c)
{
	return c->irq;
}

/* @irq: result of kbl_irq_off().  It is stored here because that saves a register. */
static __always_inline void kbl_busy(struct kbl_cpu *c, unsigned long irq)
{
	WRITE_ONCE(c->irq, irq);
}

static __always_inline void kbl_idle(struct kbl_cpu *c, bool pv)
{
	kbl_irq_end(&c->irq, pv);
}

/* Take the first free entry, which has been filled, for this call. */
static __always_inline int kbl_enter_end(struct kbl_cpu *c, struct kbl_target *t,
					 struct kbl_ticket *ticket)
{
	struct kbl_call *call = c->free;

	c->free = call->next;
	call->target = t;
	ticket->call = call;
	kbl_idle(c, true);
	return 0;
}

/*
 * Entry of a call that carries one packet.  The first free entry is filled before it is known
 * whether the call takes it: that keeps few values live, so that they fit into registers.  For
 * the same reason every function call here is a tail call.
 */
static __always_inline int kbl_enter_plain(struct kbl_cpu *c, struct kbl_target *t,
					   struct pt_regs *regs, u64 head, s32 caller, u64 now,
					   bool trap, bool pv, struct kbl_ticket *ticket)
{
	const struct sk_buff *skb = *(const struct sk_buff **)((u8 *)regs + t->plain);
	struct kbl_call *call = c->free;
	struct kbl_known *k;

	kbl_call_fill(call, head, now, (unsigned long)skb, caller, trap);
	k = kbl_known_slot(c, (unsigned long)skb);
	/* Keep it in a register from here on. */
	OPTIMIZER_HIDE_VAR(k);
	if (unlikely(!kbl_packet_alike(k, skb)))
		return kbl_enter_unlike(c, t, k, regs, ticket);
	if (unlikely(!kbl_fields_same(k, skb)))
		return kbl_enter_moved(c, t, k, regs, ticket);
	c->free = call->next;
	call->target = t;
	ticket->call = call;
	kbl_idle(c, pv);
	return 0;
}

/* Entry at the time @now. */
static __always_inline int kbl_enter_at(struct kbl_cpu *c, struct kbl_target *t,
					struct pt_regs *regs, unsigned long addr, u64 now,
					bool trap, bool pv, struct kbl_ticket *ticket)
{
	u64 head;
	s32 caller;

	c->now = now;
	c->hits[t->id]++;
	head = t->head | c->head;
	if (unlikely((s64)head < 0) || unlikely(!c->free))
		return kbl_enter_slow(c, t, addr, regs, ticket);
	/* If kbl_hooked is unknown, all calls take the slow path. */
	if (IS_ENABLED(CONFIG_RETHOOK) && unlikely(addr == kbl_hooked))
		return kbl_enter_jumped(c, t, addr, regs, ticket);
	caller = kbl_caller_offset(addr, &head);
	return kbl_enter_plain(c, t, regs, head, caller, now, trap, pv, ticket);
}

/*
 * Entry of a call.  Returns 0 if the return is to be recorded, with *@ticket set, else 1.
 *
 * Preemption is off.  @irq: result of kbl_irq_off().  @addr: the return address. @trap: entered
 * by a breakpoint; constant false in back ends that use none. @pv: see kbl_irq_off().  Call it
 * only while armed: a back end that arms one function after the other checks kbl_active first.
 */
static __always_inline int kbl_enter_as(struct kbl_target *t, struct pt_regs *regs,
					unsigned long irq, unsigned long addr, bool trap,
					bool pv, struct kbl_ticket *ticket)
{
	struct kbl_cpu *c = __this_cpu_read(kbl_cpu);
	u64 now;

	if (unlikely(kbl_is_busy(c)))
		return kbl_enter_nested(c, irq);
	kbl_busy(c, irq);
	now = kbl_instant_guess(c);
	if (unlikely(!kbl_instant_new(c, now)))
		return kbl_enter_late(c, t, addr, regs, ticket);
	return kbl_enter_at(c, t, regs, addr, now, trap, pv, ticket);
}

/* Only the CPU of the entry may link it into its free list. */
static __always_inline void kbl_call_free(struct kbl_cpu *c, struct kbl_call *call)
{
	call->next = c->free;
	c->free = call;
}

/* Add EXT_CALL to a CALL whose return value or duration does not fit the head slot. */
static __always_inline void kbl_write_ext(union kbl_slot *slot, const struct kbl_target *t,
					  u64 dur, long ret)
{
	u64 more = KBL_HEAD(ext, 1);

	if (t->returns == KBL_RETURNS_INT)
		ret = (int)ret;
	/* Rare, so the common path computes nothing for it.  The clock may step back. */
	if (unlikely(dur >= U32_MAX)) {
		dur = max_t(s64, dur, 0);
		WRITE_ONCE(slot->span.dur, min_t(u64, dur, U32_MAX));
	}
	if (t->ret_skb && kbl_is_kernel(ret))
		more |= KBL_HEAD(flags, KBL_FLAG_SKB_IS_RET);
	slot->words[0] |= more;
	slot[1].words[0] = 0;
	slot[1].ext_call.kind = KBL_EXT;
	slot[1].ext_call.type = KBL_EXT_CALL;
	slot[1].ext_call.dur = dur;
	slot[1].ext_call.ret = ret;
	slot[1].ext_call.pad3 = 0;
}

/* Write a CALL over old slots; returns the slot after it. */
static __always_inline union kbl_slot *kbl_write_call(union kbl_slot *slot,
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
	if (unlikely(ret | (dur + 1) >> 32))
		kbl_write_ext(slot++, t, dur, ret);
	return slot + 1;
}

/* Exit of a call at the time @now. */
static __always_inline void kbl_leave_at(struct kbl_cpu *c, struct pt_regs *regs,
					 const struct kbl_ticket *ticket, u64 now, bool pv)
{
	struct kbl_call *call = ticket->call;
	const struct kbl_target *t;
	union kbl_slot *at;

	c->now = now;
	at = c->at;
	/*
	 * Entered on this CPU, and by the thread of the last TASK record?  A call returns in
	 * the thread that entered it.
	 */
	if (unlikely(call->who.both != c->last_who.both) || unlikely(at > c->limit)) {
		kbl_leave_slow(c, 0, 0, regs, ticket);
		return;
	}
	t = call->target;
	kbl_put(c, kbl_write_call(at, call, t, now, kbl_ret(regs) & t->ret_mask));
	c->written++;
	kbl_call_free(c, call);
	kbl_idle(c, pv);
}

/* Exit of a call for which kbl_enter_as() returned @ticket.  @irq: result of kbl_irq_off(). */
static __always_inline void kbl_leave(const struct kbl_ticket *ticket, struct pt_regs *regs,
				      unsigned long irq, bool pv)
{
	struct kbl_cpu *c = __this_cpu_read(kbl_cpu);
	u64 now;

	if (unlikely(kbl_is_busy(c))) {
		kbl_leave_nested(c, ticket, irq);
		return;
	}
	kbl_busy(c, irq);
	now = kbl_instant_guess(c);
	if (likely(kbl_instant_new(c, now)))
		kbl_leave_at(c, regs, ticket, now, pv);
	else
		kbl_leave_late(c, 0, 0, regs, ticket);
}

#endif /* KBL_HOT_H */
