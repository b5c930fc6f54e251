// SPDX-License-Identifier: GPL-2.0-only
/*
 * Entry of a probed function, except the inline path in kbl_hot.h.  Each entry takes a free row
 * in its CPU's table of open calls.
 */
#ifdef CONFIG_RETHOOK
#include <linux/rethook.h>
#endif

#include "kbl_hot.h"

unsigned long kbl_hooked __read_mostly;	/* address of the return hook, see kbl_unhooked() */
/* Stands for all calls for which the table of open calls had no free row. */
struct kbl_call kbl_unpaired = { .who.cpu = KBL_CALL_ODD };

/*
 * After a tail call the return address on the stack is a return hook of the function that
 * jumped.  The hooks of one frame are chained; the oldest has the real address.
 */
static __always_inline unsigned long kbl_unhooked(const struct pt_regs *regs)
{
	unsigned long addr = kbl_return_address(regs);
#ifdef CONFIG_RETHOOK
	struct llist_node *n;

	for (n = current->rethooks.first; n; n = n->next) {
		struct rethook_node *node = container_of(n, struct rethook_node, llist);

		if (node->frame != kbl_frame(regs))
			break;
		addr = node->ret_addr;
	}
#endif
	return addr;
}

/*
 * The return address of a function that has just been entered and whose return is hooked, for
 * example by another tool's kretprobe: the newest frame is its own.
 */
unsigned long kbl_unhooked_entry(unsigned long addr)
{
#ifdef CONFIG_RETHOOK
	struct llist_node *n = current->rethooks.first;
	unsigned long frame = n ? container_of(n, struct rethook_node, llist)->frame : 0;

	for (; n; n = n->next) {
		struct rethook_node *node = container_of(n, struct rethook_node, llist);

		if (node->frame != frame)
			break;
		addr = node->ret_addr;
	}
#endif
	return addr;
}
NOKPROBE_SYMBOL(kbl_unhooked_entry);

/* The real return address.  Sets KBL_FLAG_TAIL_CALL if the function was reached by a tail call. */
static __always_inline unsigned long kbl_jumper(const struct pt_regs *regs, u64 *head)
{
	unsigned long addr = kbl_return_address(regs);

	if (IS_ENABLED(CONFIG_RETHOOK) && kbl_hooked && likely(addr != kbl_hooked))
		return addr;
	addr = kbl_unhooked(regs);
	if (addr != kbl_return_address(regs))
		*head |= KBL_HEAD(flags, KBL_FLAG_TAIL_CALL);
	return addr;
}

/* Free the entries of calls that returned on another CPU, or inside another record. */
static void kbl_sweep(struct kbl_cpu *c)
{
	struct kbl_call *call;

	WRITE_ONCE(c->returned, false);
	for (call = c->calls; call < c->calls + KBL_NR_CALLS; call++) {
		/* Pairs with the release in kbl_call_give_back(). */
		if (smp_load_acquire(&call->target) != KBL_CALL_RETURNED)
			continue;
		call->who.cpu = c->last_who.cpu;
		kbl_call_free(c, call);
	}
}
NOKPROBE_SYMBOL(kbl_sweep);

/* Only the CPU that owns the entry may link it.  That CPU frees it when no other entry is free. */
void kbl_call_give_back(struct kbl_call *call)
{
	struct kbl_cpu *owner = kbl_call_owner(call);

	/* Pairs with the acquire in kbl_sweep(): this CPU has finished reading the entry. */
	smp_store_release(&call->target, KBL_CALL_RETURNED);
	WRITE_ONCE(owner->returned, true);
}
NOKPROBE_SYMBOL(kbl_call_give_back);

void kbl_call_record(struct kbl_cpu *c, u8 kind, const struct kbl_call *call, u8 flags)
{
	struct kbl_call_slot *slot = &kbl_head(c)->call;

	slot->kind = kind;
	slot->flags = call->span.flags | flags;
	slot->context = call->span.context;
	slot->func = call->span.func;
	slot->ts = call->span.ts;
	slot->skb = call->span.skb;
	slot->caller = call->span.caller;
	slot->pid = call->who.pid;
}
NOKPROBE_SYMBOL(kbl_call_record);

/* Too many calls are open: record entry and exit separately. */
static bool kbl_enter_unpaired(struct kbl_cpu *c, struct kbl_target *t, struct pt_regs *regs,
			       const struct kbl_call *call, struct kbl_ticket *ticket)
{
	if (!t->quiet) {
		kbl_batch_begin(c);
		kbl_call_record(c, KBL_ENTRY, call, 0);
		c->unpaired++;
		if (!kbl_batch_end(c)) {
			/* Without a ticket, the exit cannot record its event either. */
			if (t->exit_event)
				kbl_lose(c, 1);
			return false;
		}
	}
	ticket->call = &kbl_unpaired;
	ticket->target = t;
	ticket->skb = call->span.skb;
	ticket->data = t->exit_event ? kbl_life_data(t, regs) : 0;
	return true;
}
NOKPROBE_SYMBOL(kbl_enter_unpaired);

/*
 * A call with one packet that the filter accepted before: record its footprint and its life
 * event.  False: not such a call.
 */
static __always_inline bool kbl_enter_one(struct kbl_cpu *c, const struct kbl_target *t,
					  struct pt_regs *regs, s32 caller, u64 skb, u8 *flags)
{
	if (!t->one || !kbl_is_kernel(skb) ||
	    (static_branch_unlikely(&kbl_filter_on) && !kbl_filter_accepted(skb)))
		return false;
	/* At kfree_skbmem() the data has already been freed. */
	if (t->event != KBL_EV_FREE && unlikely(!kbl_skb_emit_alone(c, skb)))
		*flags |= KBL_FLAG_EXT_LOST;
	if (t->entry_event && unlikely(!kbl_life_entry_alone(c, t, regs, skb, caller)))
		*flags |= KBL_FLAG_EXT_LOST;
	return true;
}

/*
 * Take an entry for a call that is recorded, or a ticket for its exit alone.  False if neither
 * is possible.
 */
static __always_inline bool kbl_enter_recorded(struct kbl_cpu *c, struct kbl_target *t,
					       struct pt_regs *regs, u64 head, s32 caller, u64 skb,
					       struct kbl_ticket *ticket)
{
	struct kbl_call *call;

	if (!c->free && READ_ONCE(c->returned))
		kbl_sweep(c);
	call = c->free;
	if (unlikely(!call)) {
		kbl_call_fill(&c->spare, head, c->now, skb, caller, t->trap);
		return kbl_enter_unpaired(c, t, regs, &c->spare, ticket);
	}
	c->free = call->next;
	kbl_call_fill(call, head, c->now, skb, caller, t->trap);
	call->target = t;
	if (static_branch_unlikely(&kbl_counter_on)) {
		call->counter = kbl_counter_read();
		call->who.cpu |= KBL_CALL_ODD;
	}
	if (t->exit_event) {
		call->data = kbl_life_data(t, regs);
		call->who.cpu |= KBL_CALL_ODD;
	}
	if (t->tap) {
		kbl_tap_read(kbl_known_slot(c, skb), t, call, regs);
		call->who.cpu |= KBL_CALL_ODD;
	}
	ticket->call = call;
	return true;
}

/*
 * The filter refused the call.  If the function makes an skb, take a ticket all the same: the new
 * skb may have the address of an accepted one whose end no probe showed, and its exit forgets
 * that one.  Nothing is recorded.
 */
static noinline bool kbl_enter_refused(struct kbl_cpu *c, struct kbl_target *t,
				       struct pt_regs *regs, u64 skb, struct kbl_ticket *ticket)
{
	struct kbl_call *call;

	if (!kbl_life_births(t))
		return false;
	if (!c->free && READ_ONCE(c->returned))
		kbl_sweep(c);
	call = c->free;
	if (unlikely(!call))
		return false;
	c->free = call->next;
	kbl_call_fill(call, KBL_HEAD(kind, KBL_CALL_REFUSED), c->now, t->one ? skb : 0, 0, t->trap);
	call->target = t;
	call->who.cpu |= KBL_CALL_ODD;
	ticket->call = call;
	return true;
}
NOKPROBE_SYMBOL(kbl_enter_refused);

/* Any entry, at the time c->now: with packets or events to record, or without a free entry. */
static __always_inline bool kbl_enter_any(struct kbl_cpu *c, struct kbl_target *t,
					  struct pt_regs *regs, struct kbl_ticket *ticket)
{
	u64 skb = *(unsigned long *)((u8 *)regs + t->plain), head = kbl_call_head(c, t);
	s32 caller = kbl_caller_offset(kbl_jumper(regs, &head), &head);
	u8 flags = 0;

	if (!kbl_enter_one(c, t, regs, caller, skb, &flags)) {
		if (static_branch_unlikely(&kbl_filter_on) || !(t->none || t->sock)) {
			if (!kbl_carry(c, t, regs, caller))
				return kbl_enter_refused(c, t, regs, skb, ticket);
			skb = c->entered;
			flags = c->entered_flags;
		} else if (t->sock && skb) {
			flags = KBL_FLAG_SOCK;
		} else {
			skb = 0;
		}
	}
	if (unlikely(t->quiet && !t->exit_event))
		return false;
	return kbl_enter_recorded(c, t, regs, head | KBL_HEAD(flags, flags), caller, skb, ticket);
}

/* The rest of kbl_enter_as(), with the same return values. */
int kbl_enter_rest(struct kbl_cpu *c, struct kbl_target *t, unsigned long addr,
		   struct pt_regs *regs, struct kbl_ticket *ticket)
{
	bool recorded = kbl_enter_any(c, t, regs, ticket);

	kbl_idle(c, true);
	return !recorded;
}
NOKPROBE_SYMBOL(kbl_enter_rest);

/* The rest of kbl_enter_slow() for the function of a packet socket. */
static noinline int kbl_enter_tap(struct kbl_cpu *c, struct kbl_target *t, unsigned long addr,
				  struct pt_regs *regs, struct kbl_ticket *ticket)
{
	const struct sk_buff *skb = *(const struct sk_buff **)((u8 *)regs + t->plain);
	struct kbl_known *k = kbl_known_slot(c, (unsigned long)skb);
	struct kbl_call *call = c->free;
	u64 head = kbl_call_head(c, t);
	s32 caller = kbl_caller_offset(kbl_jumper(regs, &head), &head);

	kbl_call_fill(call, head, c->now, (unsigned long)skb, caller, t->trap);
	if (!kbl_packet_alike(k, skb) || !kbl_fields_same(k, skb)) {
		if (unlikely(!kbl_is_kernel((unsigned long)skb)))
			return kbl_enter_rest(c, t, addr, regs, ticket);
		if (unlikely(!kbl_skb_emit_alone(c, (unsigned long)skb)))
			call->span.flags |= KBL_FLAG_EXT_LOST;
	}
	kbl_tap_read(k, t, call, regs);
	call->who.cpu |= KBL_CALL_ODD;
	return kbl_enter_end(c, t, ticket);
}
NOKPROBE_SYMBOL(kbl_enter_tap);

/* The rest of kbl_enter_slow() if only a CALL is recorded. */
static noinline int kbl_enter_bare(struct kbl_cpu *c, struct kbl_target *t, unsigned long addr,
				   struct pt_regs *regs, struct kbl_ticket *ticket)
{
	u64 head = 0, sk = 0;
	s32 caller;

	caller = kbl_caller_offset(kbl_jumper(regs, &head), &head);
	if (t->sock)
		sk = *(unsigned long *)((u8 *)regs + t->plain);
	if (sk)
		head |= KBL_HEAD(flags, KBL_FLAG_SOCK);
	kbl_call_fill(c->free, head | kbl_call_head(c, t), c->now, sk, caller, t->trap);
	return kbl_enter_end(c, t, ticket);
}
NOKPROBE_SYMBOL(kbl_enter_bare);

/*
 * The rest of kbl_enter_slow() for a function without an skb.  The filter accepted the call around
 * it.  It never records entry and exit separately: nobody would know what they are inside of.
 */
static noinline int kbl_enter_inner(struct kbl_cpu *c, struct kbl_target *t, unsigned long addr,
				    struct pt_regs *regs, struct kbl_ticket *ticket)
{
	u64 head = kbl_call_head(c, t);
	bool inside = kbl_inner_inside(c, kbl_context(t->trap));
	s32 caller;

	if (inside && !c->free && READ_ONCE(c->returned))
		kbl_sweep(c);
	if (unlikely(inside && !c->free))
		c->inner_missed++;
	if (!inside || unlikely(!c->free)) {
		c->inner_outside += !inside;
		c->hits[t->id]--;
		kbl_idle(c, true);
		return 1;
	}
	caller = kbl_caller_offset(kbl_jumper(regs, &head), &head);
	kbl_enter_recorded(c, t, regs, head, caller, 0, ticket);
	kbl_idle(c, true);
	return 0;
}
NOKPROBE_SYMBOL(kbl_enter_inner);

/* The rest of kbl_enter_as(). */
int kbl_enter_slow(struct kbl_cpu *c, struct kbl_target *t, unsigned long addr,
		   struct pt_regs *regs, struct kbl_ticket *ticket)
{
	if (t->inner)
		return kbl_enter_inner(c, t, addr, regs, ticket);
	if (static_branch_unlikely(&kbl_detour) || unlikely(!c->free))
		return kbl_enter_rest(c, t, addr, regs, ticket);
	if (t->tap)
		return kbl_enter_tap(c, t, addr, regs, ticket);
	if (t->bare)
		return kbl_enter_bare(c, t, addr, regs, ticket);
	return kbl_enter_rest(c, t, addr, regs, ticket);
}
NOKPROBE_SYMBOL(kbl_enter_slow);

/* The rest of kbl_enter_at() after a tail call. */
int kbl_enter_jumped(struct kbl_cpu *c, struct kbl_target *t, unsigned long addr,
		     struct pt_regs *regs, struct kbl_ticket *ticket)
{
	u64 head = t->head | c->head;
	s32 caller = kbl_caller_offset(kbl_jumper(regs, &head), &head);

	return kbl_enter_plain(c, t, regs, head, caller, c->now, t->trap, true, ticket);
}
NOKPROBE_SYMBOL(kbl_enter_jumped);

/* The rest of kbl_enter_as() if the kernel's clock must be read. */
int kbl_enter_late(struct kbl_cpu *c, struct kbl_target *t, unsigned long addr,
		   struct pt_regs *regs, struct kbl_ticket *ticket)
{
	return kbl_enter_at(c, t, regs, addr, kbl_clock_read(c), t->trap, true, ticket);
}
NOKPROBE_SYMBOL(kbl_enter_late);

/* The probe fired while this CPU writes another record. */
int kbl_enter_nested(struct kbl_cpu *c, const struct kbl_target *t, unsigned long irq)
{
	/* No packet's record is lost by a lock that the kernel takes for this module. */
	if (t->inner)
		c->inner_missed++;
	else
		kbl_nested(c);
	kbl_irq_back(irq, true);
	return 1;
}
NOKPROBE_SYMBOL(kbl_enter_nested);
