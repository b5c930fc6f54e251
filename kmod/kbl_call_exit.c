// SPDX-License-Identifier: GPL-2.0-only
/*
 * Exit of a probed function, except the inline path in kbl_hot.h.  An exit writes one CALL
 * record and frees the call's row in the table of open calls.  It never reads the skb that the
 * call had at its entry, because that skb may be freed.
 */
#include "kbl_hot.h"

static void kbl_counter_ext(struct kbl_cpu *c, const struct kbl_call *call)
{
	struct kbl_ext_counter *ext = &kbl_ext(c, KBL_EXT_COUNTER)->counter;

	ext->valid = kbl_call_owner(call) == c && call->counter && c->counter;
	ext->event = kbl_counter_event();
	ext->count = c->counter - call->counter;
}
NOKPROBE_SYMBOL(kbl_counter_ext);

/* The call had neither a packet nor a socket before it returned a socket. */
static void kbl_sock_returned(union kbl_slot *head, const struct kbl_target *t, unsigned long ret)
{
	if (!t->ret_sock || head->span.skb || !kbl_is_kernel(ret))
		return;
	head->span.skb = ret;
	head->span.flags |= KBL_FLAG_SOCK;
}
NOKPROBE_SYMBOL(kbl_sock_returned);

/* Write EXT TAP after the CALL. */
static __always_inline union kbl_slot *kbl_write_tap(union kbl_slot *slot,
						     const struct kbl_call *call)
{
	slot->words[0] = call->tap_head.word;
	slot->tap.sk = static_branch_unlikely(&kbl_counter_on) ? 0 : call->tap_sk;
	slot->words[2] = 0;
	*(union kbl_tap_sum *)&slot->tap.checksum = call->tap_sum;
	slot->words[3] = 0;
	return slot + 1;
}

/* The return value as an event's data. */
static __always_inline unsigned long kbl_ret_value(const struct kbl_target *t, unsigned long ret)
{
	return t->returns == KBL_RETURNS_INT ? (int)ret : ret;
}

/* Has the exit more than one event to record? */
static __always_inline bool kbl_life_many(const struct kbl_target *t)
{
	return t->event == KBL_EV_SEGMENT ||
	       (t->event == KBL_EV_SOCK_ENQUEUE &&
		READ_ONCE(kbl_probe_events) & BIT_ULL(KBL_EV_SOCK_LENGTH));
}

/*
 * Exit of a call with an event or EXT TAP, without a batch.  False if that does not suffice.
 * At most three slots: CALL, EXT CALL and one of the two.
 */
static __always_inline bool kbl_leave_unbatched(struct kbl_cpu *c, struct kbl_call *call,
						unsigned long ret)
{
	const struct kbl_target *t = call->target;
	union kbl_slot *head = c->at, *end = head;

	if (unlikely(!kbl_room_next(c)) || static_branch_unlikely(&kbl_counter_on) ||
	    unlikely((call->who.cpu & ~KBL_CALL_ODD) != c->last_who.cpu) ||
	    unlikely(kbl_life_many(t)))
		return false;
	if (likely(!t->quiet)) {
		end = kbl_write_call(head, call, t, c->now, ret);
		c->written++;
		kbl_sock_returned(head, t, ret);
		if (t->tap) {
			end = kbl_write_tap(end, call);
			head->span.ext++;
		}
	}
	if (t->exit_event)
		end = kbl_life_exit_write(c, end, call, kbl_ret_value(t, ret));
	kbl_put(c, end);
	call->who.cpu = c->last_who.cpu;
	kbl_call_free(c, call);
	return true;
}

/* Exit of a call with more to record than the CALL, or without room for it. */
static noinline void kbl_leave_paired(struct kbl_cpu *c, struct kbl_call *call, unsigned long ret)
{
	const struct kbl_target *t = call->target;
	union kbl_slot *head;

	kbl_batch_begin(c);
	if (!t->quiet) {
		head = kbl_head_raw(c);
		c->nslots += kbl_write_call(head, call, t, c->now, ret) - head - 1;
		kbl_sock_returned(head, t, ret);
		if (static_branch_unlikely(&kbl_counter_on)) {
			kbl_counter_ext(c, call);
			head->span.ext++;
		}
		if (t->tap) {
			kbl_write_tap(kbl_ext(c, KBL_EXT_TAP), call);
			head->span.ext++;
		}
	}
	if (t->exit_event)
		kbl_life_exit(c, call, kbl_ret_value(t, ret));
	kbl_batch_end(c);
	if (kbl_call_owner(call) == c) {
		call->who.cpu = c->last_who.cpu;
		kbl_call_free(c, call);
	} else {
		kbl_call_give_back(call);
	}
}
NOKPROBE_SYMBOL(kbl_leave_paired);

/* Exit of a call that the filter refused, but which may have made an skb. */
static void kbl_leave_refused(struct kbl_cpu *c, struct kbl_call *call, unsigned long ret)
{
	kbl_life_refused(c, call, ret);
	if (kbl_call_owner(call) != c) {
		kbl_call_give_back(call);
		return;
	}
	call->who.cpu = c->last_who.cpu;
	kbl_call_free(c, call);
}
NOKPROBE_SYMBOL(kbl_leave_refused);

/* Exit of a call that found no place in the table: it has its event all the same. */
static void kbl_leave_unpaired(struct kbl_cpu *c, const struct kbl_ticket *ticket,
			       unsigned long ret)
{
	const struct kbl_target *t = ticket->target;
	struct kbl_call call;

	/* A return is never entered by a breakpoint. */
	kbl_call_fill(&call, kbl_call_head(c, t), c->now, ticket->skb, ret, false);
	call.target = ticket->target;
	call.data = ticket->data;
	kbl_batch_begin(c);
	if (!t->quiet)
		kbl_call_record(c, KBL_EXIT, &call, 0);
	if (t->exit_event)
		kbl_life_exit(c, &call, kbl_ret_value(t, ret));
	kbl_batch_end(c);
	/* What the packet socket got is not known. */
	if (t->tap)
		kbl_lose(c, 1);
}
NOKPROBE_SYMBOL(kbl_leave_unpaired);

/* At the time c->now, between kbl_busy() and kbl_idle(). */
void kbl_leave_slow(struct kbl_cpu *c, unsigned long unused, unsigned long unused2,
		    struct pt_regs *regs, const struct kbl_ticket *ticket)
{
	unsigned long ret = kbl_ret(regs);
	struct kbl_call *call = ticket->call;

	if (static_branch_unlikely(&kbl_counter_on))
		c->counter = kbl_counter_read();
	if (unlikely(call == &kbl_unpaired))
		kbl_leave_unpaired(c, ticket, ret & ticket->target->ret_mask);
	else if (unlikely(call->span.kind == KBL_CALL_REFUSED))
		kbl_leave_refused(c, call, ret & call->target->ret_mask);
	else if (unlikely(!kbl_leave_unbatched(c, call, ret & call->target->ret_mask)))
		kbl_leave_paired(c, call, ret & call->target->ret_mask);
	kbl_idle(c, true);
}
NOKPROBE_SYMBOL(kbl_leave_slow);

/* The rest of kbl_leave() if the kernel's clock must be read. */
void kbl_leave_late(struct kbl_cpu *c, unsigned long unused, unsigned long unused2,
		    struct pt_regs *regs, const struct kbl_ticket *ticket)
{
	kbl_leave_at(c, regs, ticket, kbl_clock_read(c), true);
}
NOKPROBE_SYMBOL(kbl_leave_late);

/* The probe fired while this CPU writes another record: the call is lost. */
void kbl_leave_nested(struct kbl_cpu *c, const struct kbl_ticket *ticket, unsigned long irq)
{
	if (ticket->call != &kbl_unpaired && ticket->call->target->inner)
		c->inner_missed++;
	else
		kbl_nested(c);
	if (ticket->call != &kbl_unpaired)
		kbl_call_give_back(ticket->call);
	kbl_irq_back(irq, true);
}
NOKPROBE_SYMBOL(kbl_leave_nested);
