/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The inline path of each call of a probed function: a call runs through it at its entry and at
 * its exit, so every instruction counts twice.  All functions are inline, so none of them can be
 * probed.
 */
#ifndef KBL_HOT_H
#define KBL_HOT_H

#include "kbl_arch.h"
#include "kbl_internal.h"
#include "kbl_known.h"
#include "kbl_record.h"

/* The return address as an offset from _stext. */
static __always_inline s32 kbl_caller_offset(unsigned long addr, u64 *head)
{
	s64 offset = addr - kbl_stext;

	if (KBL_ARCH_NEAR || likely(offset == (s32)offset))
		return offset;
	*head |= KBL_HEAD(flags, KBL_FLAG_NO_CALLER);
	return 0;
}

/* The part of a call's first word that is known before the call. */
static __always_inline u64 kbl_call_head(const struct kbl_cpu *c, const struct kbl_target *t)
{
	return (t->head | c->head) & ~KBL_SLOW;
}

/* The CPU of the entry. */
static __always_inline struct kbl_cpu *kbl_call_owner(const struct kbl_call *call)
{
	return per_cpu(kbl_cpu, call->who.cpu & ~KBL_CALL_ODD);
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
 * Entry of a call.  Returns 0 if the return is to be recorded, with *@ticket set; otherwise 1.
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
		return kbl_enter_nested(c, t, irq);
	kbl_busy(c, irq);
	now = kbl_instant_guess(c);
	if (unlikely(!kbl_instant_new(c, now)))
		return kbl_enter_late(c, t, addr, regs, ticket);
	return kbl_enter_at(c, t, regs, addr, now, trap, pv, ticket);
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
