// SPDX-License-Identifier: GPL-2.0-only
/*
 * Events in the lifetime of an skb that a function call shows: at the call's entry, or by its
 * return value.
 */
#include <linux/netfilter.h>
#include <linux/string.h>
#include <net/sock.h>

#include "kbl_record.h"
#include "kbl_whole.h"

u64 kbl_probe_events __read_mostly = U64_MAX;

const char *const kbl_life_names[] = {
	[KBL_EV_ALLOC] = "alloc",
	[KBL_EV_CLONE] = "clone",
	[KBL_EV_COPY] = "copy",
	[KBL_EV_SEGMENT] = "segment",
	[KBL_EV_FREE] = "free",
	[KBL_EV_CONSUME] = "consume",
	[KBL_EV_DROP] = "drop",
	[KBL_EV_GRO_MERGE] = "gro_merge",
	[KBL_EV_COALESCE] = "coalesce",
	[KBL_EV_MORPH] = "morph",
	[KBL_EV_DEFER_FREE] = "defer_free",
	[KBL_EV_SOCK_ENQUEUE] = "sock_enqueue",
	[KBL_EV_NF_HOOK] = "nf_hook",
};

/* The enum kbl_event of a word in the list of probes, 0 = none. */
int kbl_life_number(const char *name)
{
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(kbl_life_names); i++)
		if (kbl_life_names[i] && !strcmp(name, kbl_life_names[i]))
			return i;
	return 0;
}

/* Decide whether the event is recorded at the entry or at the exit. */
void kbl_life_kind(struct kbl_target *t)
{
	switch (t->event) {
	case 0:
		break;
	case KBL_EV_FREE:
	case KBL_EV_DEFER_FREE:
	case KBL_EV_DROP:
	case KBL_EV_CONSUME:
		t->entry_event = true;
		break;
	default:
		t->exit_event = true;
		break;
	}
}

/* Does the function make an skb? */
bool kbl_life_births(const struct kbl_target *t)
{
	return t->event && t->event <= KBL_EV_SEGMENT;
}
NOKPROBE_SYMBOL(kbl_life_births);

static void kbl_life(struct kbl_cpu *c, u8 event, u64 skb, u64 data)
{
	/* Not if the event is switched off, or if a tracepoint records it with more detail. */
	if (READ_ONCE(kbl_probe_events) & BIT_ULL(event))
		kbl_event(c, event, skb, data);
	if (static_branch_unlikely(&kbl_filter_on))
		kbl_filter_life(event, skb, data);
}
NOKPROBE_SYMBOL(kbl_life);

/* If the skb has other users, the call drops a reference but does not free the packet. */
static __always_inline bool kbl_last_user(u64 addr)
{
	const struct sk_buff *skb = (const struct sk_buff *)(unsigned long)addr;
	int users;

	kbl_get(users, &skb->users.refs.counter, fault);
	return users == 1;
fault:
	return false;
}

/* Like kbl_life(), but writes into a reserved slot and returns the slot after it. */
static __always_inline union kbl_slot *kbl_life_write(struct kbl_cpu *c, union kbl_slot *slot,
						      u8 event, u64 skb, u64 data)
{
	if (READ_ONCE(kbl_probe_events) & BIT_ULL(event))
		slot = kbl_event_write(c, slot, event, skb, data);
	if (static_branch_unlikely(&kbl_filter_on))
		kbl_filter_life(event, skb, data);
	return slot;
}

/* Does an entry have an event to record?  Sets the event's @data. */
static __always_inline bool kbl_life_entered(const struct kbl_target *t, struct pt_regs *regs,
					     u64 skb, s32 caller, u64 *data)
{
	u64 location = (u64)(u32)caller << 32;

	switch (t->event) {
	case KBL_EV_FREE:
	case KBL_EV_DEFER_FREE:
		*data = 0;
		return true;
	case KBL_EV_DROP:
		if (!kbl_last_user(skb))
			return false;
		/* kfree_skb_reason(skb, reason), sk_skb_reason_drop(sk, skb, reason) */
		*data = location | (u32)kbl_arg(regs, (t->carrier[0] & 15) + 1);
		return true;
	case KBL_EV_CONSUME:
		*data = location;
		return kbl_last_user(skb);
	}
	return false;
}

/* Called inside the batch of the entry. */
void kbl_life_entry(struct kbl_cpu *c, const struct kbl_target *t, struct pt_regs *regs, u64 skb,
		    s32 caller)
{
	u64 data;

	if (kbl_life_entered(t, regs, skb, caller, &data))
		kbl_life(c, t->event, skb, data);
}
NOKPROBE_SYMBOL(kbl_life_entry);

static noinline bool kbl_life_entry_batch(struct kbl_cpu *c, const struct kbl_target *t,
					  struct pt_regs *regs, u64 skb, s32 caller)
{
	kbl_batch_begin(c);
	kbl_life_entry(c, t, regs, skb, caller);
	return kbl_batch_end(c);
}
NOKPROBE_SYMBOL(kbl_life_entry_batch);

/* Like kbl_life_entry(), but outside a batch.  False if the event is lost. */
bool kbl_life_entry_alone(struct kbl_cpu *c, const struct kbl_target *t, struct pt_regs *regs,
			  u64 skb, s32 caller)
{
	u64 data;

	if (unlikely(!kbl_room_next(c)))
		return kbl_life_entry_batch(c, t, regs, skb, caller);
	if (kbl_life_entered(t, regs, skb, caller, &data))
		kbl_put(c, kbl_life_write(c, c->at, t->event, skb, data));
	return true;
}
NOKPROBE_SYMBOL(kbl_life_entry_alone);

/* The argument of the second carrier, 0 = none. */
static u64 kbl_second(const struct kbl_target *t, struct pt_regs *regs)
{
	return t->nr_carriers > 1 ? kbl_arg(regs, t->carrier[1] & 15) : 0;
}
NOKPROBE_SYMBOL(kbl_second);

/* hook | pf << 8 of the struct nf_hook_state in the argument after the skb. */
static u64 kbl_hook(const struct kbl_target *t, struct pt_regs *regs)
{
	u64 at = kbl_arg(regs, (t->carrier[0] & 15) + 1);
	const struct nf_hook_state *state = (const struct nf_hook_state *)(unsigned long)at;
	u8 hook, pf;

	if (!kbl_is_kernel(at))
		return 0;
	kbl_get(hook, &state->hook, fault);
	kbl_get(pf, &state->pf, fault);
	kbl_hook_note(kbl_arg(regs, t->carrier[0] & 15), hook, pf);
	return hook | pf << 8;
fault:
	return 0;
}
NOKPROBE_SYMBOL(kbl_hook);

/* The arguments that the event at the exit needs. They cannot be read at the exit. */
u64 kbl_life_data(const struct kbl_target *t, struct pt_regs *regs)
{
	u64 size;

	switch (t->event) {
	case KBL_EV_ALLOC:
		/* __alloc_skb(size, ...), but build_skb(data, size) */
		size = kbl_arg(regs, 0);
		return size > S32_MAX ? (u32)kbl_arg(regs, 1) : size;
	case KBL_EV_GRO_MERGE:
	case KBL_EV_COALESCE:
	case KBL_EV_MORPH:
	case KBL_EV_SOCK_ENQUEUE:
		return kbl_second(t, regs);
	case KBL_EV_NF_HOOK:
		return kbl_hook(t, regs);
	}
	return 0;
}
NOKPROBE_SYMBOL(kbl_life_data);

/* The length of the socket's receive queue, after the event that a packet was added to it. */
static void kbl_sock_length(struct kbl_cpu *c, u64 sk)
{
	const struct sock *sock = (const struct sock *)(unsigned long)sk;
	u32 packets, bytes;

	if (!(READ_ONCE(kbl_probe_events) & BIT_ULL(KBL_EV_SOCK_LENGTH)) || !kbl_is_kernel(sk))
		return;
	kbl_get(packets, &sock->sk_receive_queue.qlen, fault);
	kbl_get(bytes, (const u32 *)&sock->sk_rmem_alloc.counter, fault);
	kbl_event(c, KBL_EV_SOCK_LENGTH, 0, packets | (u64)bytes << 32);
fault:
	return;
}
NOKPROBE_SYMBOL(kbl_sock_length);

/* The segments are a list linked by next; each of them is new and alive. */
static void kbl_segments(struct kbl_cpu *c, u64 parent, u64 first)
{
	unsigned int i;
	u64 at = first;

	for (i = 0; i < KBL_MAX_SEGMENTS && kbl_is_kernel(at); i++) {
		kbl_life(c, KBL_EV_SEGMENT, parent, at);
		kbl_get(at, (u64 *)(unsigned long)at, fault);
	}
fault:
	return;
}
NOKPROBE_SYMBOL(kbl_segments);

/*
 * nf_hook_slow() returns 1 to go on, 0 if the packet was stolen or queued, else an error:
 * dropped.
 */
static u64 kbl_hook_verdict(long ret)
{
	u64 verdict = ret == 1 ? NF_ACCEPT : ret ? NF_DROP : NF_STOLEN;

	return (verdict + 1) << 16;
}
NOKPROBE_SYMBOL(kbl_hook_verdict);

/* Does an exit have one event to record?  Sets the event's @skb and @data. */
static __always_inline bool kbl_life_left(const struct kbl_call *call, unsigned long ret,
					  u64 *skb, u64 *data)
{
	*skb = call->span.skb;
	*data = call->data;
	switch (call->target->event) {
	case KBL_EV_ALLOC:
		*skb = ret;
		return kbl_is_kernel(ret);
	case KBL_EV_CLONE:
	case KBL_EV_COPY:
		*data = ret;
		return kbl_is_kernel(ret);
	case KBL_EV_MORPH:
		return true;
	case KBL_EV_COALESCE:
		return ret;
	case KBL_EV_GRO_MERGE:
	case KBL_EV_SOCK_ENQUEUE:
		return !ret;
	case KBL_EV_NF_HOOK:
		*data |= kbl_hook_verdict(ret);
		return call->data;
	}
	return false;
}

/* Called inside the batch of the exit. */
void kbl_life_exit(struct kbl_cpu *c, const struct kbl_call *call, unsigned long ret)
{
	u64 skb, data;

	if (call->target->event == KBL_EV_SEGMENT) {
		kbl_segments(c, call->span.skb, ret);
	} else if (kbl_life_left(call, ret, &skb, &data)) {
		kbl_life(c, call->target->event, skb, data);
		if (call->target->event == KBL_EV_SOCK_ENQUEUE)
			kbl_sock_length(c, data);
	}
}
NOKPROBE_SYMBOL(kbl_life_exit);

/*
 * A new skb that the filter has not accepted.  If packets are sampled, its birth is recorded only
 * if the log has an skb at that address which has not ended: then it ends here.
 */
static void kbl_life_born(struct kbl_cpu *c, u8 event, u64 skb, u64 data)
{
	u64 born = event == KBL_EV_ALLOC ? skb : data;

	if (READ_ONCE(kbl_by_packet) && kbl_filter_accepted(born)) {
		kbl_batch_begin(c);
		kbl_life(c, KBL_EV_ALLOC, born, 0);
		kbl_batch_end(c);
	}
	kbl_filter_life(event, skb, data);
}
NOKPROBE_SYMBOL(kbl_life_born);

/* Exit of a call that makes an skb and that the filter refused: a new skb is not accepted yet. */
void kbl_life_refused(struct kbl_cpu *c, const struct kbl_call *call, unsigned long ret)
{
	unsigned int i;
	u64 skb, data;

	if (!static_branch_unlikely(&kbl_filter_on))
		return;
	if (call->target->event != KBL_EV_SEGMENT) {
		if (kbl_life_left(call, ret, &skb, &data))
			kbl_life_born(c, call->target->event, skb, data);
		return;
	}
	for (i = 0; i < KBL_MAX_SEGMENTS && kbl_is_kernel(ret); i++) {
		kbl_life_born(c, KBL_EV_SEGMENT, call->span.skb, ret);
		kbl_get(ret, (unsigned long *)ret, fault);
	}
fault:
	return;
}
NOKPROBE_SYMBOL(kbl_life_refused);

/*
 * Like kbl_life_exit(), but writes into a reserved slot and returns the slot after it.  Not if
 * kbl_life_many() is true.
 */
union kbl_slot *kbl_life_exit_write(struct kbl_cpu *c, union kbl_slot *slot,
				    const struct kbl_call *call, unsigned long ret)
{
	u64 skb, data;

	if (!kbl_life_left(call, ret, &skb, &data))
		return slot;
	return kbl_life_write(c, slot, call->target->event, skb, data);
}
NOKPROBE_SYMBOL(kbl_life_exit_write);
