// SPDX-License-Identifier: GPL-2.0-only
/*
 * Find the packets that a call carries.  The carriers of its target say where they are: an skb,
 * a pointer to an skb, a list or queue of skbs, or only a sock.
 */
#include "kbl_known.h"
#include "kbl_record.h"
#include "kbl_whole.h"

#define KBL_COUNT_MAX 1024	/* most packets of a list that are visited, recorded or counted */

static void kbl_take(struct kbl_cpu *c, u64 skb)
{
	if (!kbl_is_kernel(skb))
		return;
	if (c->ncarried < KBL_MAX_CARRIED)
		c->carried[c->ncarried++] = skb;
	else
		c->nmore++;
}
NOKPROBE_SYMBOL(kbl_take);

/* Walk a struct list_head or sk_buff_head; an skb begins with its links. */
static void kbl_take_list(struct kbl_cpu *c, u64 head)
{
	u64 at = head;
	unsigned int i;

	BUILD_BUG_ON(offsetof(struct sk_buff, list) || offsetof(struct sk_buff, next));
	for (i = 0; i <= KBL_COUNT_MAX; i++) {
		if (!kbl_is_kernel(at))
			return;
		kbl_get(at, (u64 *)(unsigned long)at, fault);
		if (at == head)
			return;
		kbl_take(c, at);
	}
fault:
	return;
}
NOKPROBE_SYMBOL(kbl_take_list);

static void kbl_take_indirect(struct kbl_cpu *c, u64 where)
{
	unsigned long skb;

	if (!kbl_is_kernel(where))
		return;
	kbl_get(skb, (unsigned long *)(unsigned long)where, fault);
	kbl_take(c, skb);
fault:
	return;
}
NOKPROBE_SYMBOL(kbl_take_indirect);

/* Fill c->carried; returns the sock if there is one among the arguments. */
static u64 kbl_collect(struct kbl_cpu *c, const struct kbl_target *t, struct pt_regs *regs)
{
	unsigned int i;
	u64 arg, sk = 0;

	c->ncarried = 0;
	c->nmore = 0;
	for (i = 0; i < t->nr_carriers; i++) {
		if ((t->carrier[i] & 15) == KBL_AT_RET)
			continue;
		arg = kbl_arg(regs, t->carrier[i] & 15);
		switch (t->carrier[i] >> 4) {
		case KBL_CARRY_SKB:
			kbl_take(c, arg);
			break;
		case KBL_CARRY_SKBP:
			kbl_take_indirect(c, arg);
			break;
		case KBL_CARRY_LIST:
		case KBL_CARRY_QUEUE:
			kbl_take_list(c, arg);
			break;
		case KBL_CARRY_SOCK:
			sk = sk ?: arg;
			break;
		}
	}
	return sk;
}
NOKPROBE_SYMBOL(kbl_collect);

static bool kbl_carries_skb(const struct kbl_target *t)
{
	unsigned int i;

	for (i = 0; i < t->nr_carriers; i++)
		if (t->carrier[i] >> 4 != KBL_CARRY_SOCK && (t->carrier[i] & 15) != KBL_AT_RET)
			return true;
	return false;
}
NOKPROBE_SYMBOL(kbl_carries_skb);

/* Is it still the packet of @k, even if fields of the skb have changed? */
static bool kbl_header_kept(const struct kbl_known *k, u64 addr)
{
	const struct sk_buff *skb = (const struct sk_buff *)(unsigned long)addr;

	return kbl_same64(&skb->head, k->head) &&
	       (k->watch ? kbl_watched_same(k, skb) : kbl_headers_same(k));
}
NOKPROBE_SYMBOL(kbl_header_kept);

/*
 * A packet that was refused and has not changed is refused again without being parsed.  If its
 * header is not known, the socket of the call decides.
 */
static bool kbl_skb_pass(struct kbl_cpu *c, u64 skb, u64 sk)
{
	struct kbl_known *k = &c->refused[kbl_known_index(skb)];
	u32 epoch = READ_ONCE(kbl_filter_epoch);
	bool read, refused;

	if (kbl_filter_accepted(skb))
		return true;
	refused = epoch && k->epoch == epoch && (k->watched == skb || k->also == skb);
	if (refused && (!sk || k->fp.slots > 1) && kbl_known_same(k, skb))
		return false;
	/* TCP clears the packet's device before it sets the socket. */
	refused = refused && k->fp.slots > 1 && kbl_header_kept(k, skb);
	read = !kbl_skb_read(k, skb);
	if (kbl_filter_pass_again(skb, read ? &k->fp : NULL, sk, refused))
		return true;
	if (read && (!sk || k->fp.slots > 1))
		k->epoch = epoch;
	return false;
}
NOKPROBE_SYMBOL(kbl_skb_pass);

static bool kbl_carries_list(const struct kbl_target *t)
{
	unsigned int i;

	for (i = 0; i < t->nr_carriers; i++)
		if (t->carrier[i] >> 4 == KBL_CARRY_LIST || t->carrier[i] >> 4 == KBL_CARRY_QUEUE)
			return true;
	return false;
}
NOKPROBE_SYMBOL(kbl_carries_list);

/*
 * A list may have packets of many connections: the call is recorded with those that pass.  A call
 * with several arguments works for the first packet: ip_route_use_hint() gets that of any other
 * connection as a hint.  A call that merges two packets is recorded with both, unless packets are
 * sampled.
 */
static bool kbl_carried_pass(struct kbl_cpu *c, const struct kbl_target *t, u64 sk)
{
	bool alone = READ_ONCE(kbl_by_packet);
	bool first = (!t->event || alone) && !kbl_carries_list(t);
	unsigned int i, kept = 0;

	if (!c->ncarried)
		return kbl_filter_pass(c, 0, NULL, sk);
	for (i = 0; i < c->ncarried; i++) {
		/* At kfree_skbmem() the data has already been freed: nothing there can decide. */
		if (alone && t->event == KBL_EV_FREE ? kbl_filter_accepted(c->carried[i]) :
						       kbl_skb_pass(c, c->carried[i], sk)) {
			if (t->event && !alone)
				return true;
			c->carried[kept++] = c->carried[i];
		} else if (first && !i) {
			return false;
		}
	}
	c->ncarried = kept;
	return kept;
}
NOKPROBE_SYMBOL(kbl_carried_pass);

/* Record the footprints that changed, and a CARRY for every packet after the first. */
static void kbl_emit_carried(struct kbl_cpu *c, const struct kbl_target *t, u8 *flags)
{
	unsigned int i;
	u64 data;

	for (i = 0; i < c->ncarried; i++) {
		/* At kfree_skbmem() the data has already been freed. */
		if (t->event != KBL_EV_FREE && kbl_skb_emit(c, c->carried[i]) && !i)
			*flags |= KBL_FLAG_EXT_LOST;
		if (!i)
			continue;
		data = i;
		if (i == c->ncarried - 1)
			data |= (u64)c->nmore << 32;
		kbl_event(c, KBL_EV_CARRY, c->carried[i], data);
	}
}
NOKPROBE_SYMBOL(kbl_emit_carried);

/* Write a batch with the packets' footprints and the life event of the first packet. */
static bool kbl_emit_entry(struct kbl_cpu *c, const struct kbl_target *t, struct pt_regs *regs,
			   s32 caller)
{
	u8 flags = 0;

	kbl_batch_begin(c);
	kbl_emit_carried(c, t, &flags);
	if (t->entry_event)
		kbl_life_entry(c, t, regs, c->carried[0], caller);
	return kbl_batch_end(c) && !flags;
}
NOKPROBE_SYMBOL(kbl_emit_entry);

/* An entry that is not as simple as most; false: the filter refuses the call. */
bool kbl_carry(struct kbl_cpu *c, const struct kbl_target *t, struct pt_regs *regs, s32 caller)
{
	u64 sk = kbl_collect(c, t, regs);

	c->entered = 0;
	c->entered_flags = 0;
	if (static_branch_unlikely(&kbl_filter_on) && !kbl_carried_pass(c, t, sk)) {
		c->filtered++;
		return false;
	}
	if (c->ncarried) {
		c->entered = c->carried[0];
		if (!kbl_emit_entry(c, t, regs, caller))
			c->entered_flags |= KBL_FLAG_EXT_LOST;
	} else {
		if (kbl_carries_skb(t)) {
			c->entered_flags |= KBL_FLAG_NULL_SKB;
			c->null_skb++;
		}
		if (sk) {
			c->entered = sk;
			c->entered_flags |= KBL_FLAG_SOCK;
		}
	}
	return true;
}
NOKPROBE_SYMBOL(kbl_carry);
