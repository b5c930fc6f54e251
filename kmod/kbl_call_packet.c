// SPDX-License-Identifier: GPL-2.0-only
/*
 * Entry of a call whose packet differs from the footprint that this CPU recorded last: the rest
 * of kbl_enter_plain().  As in that function, function calls are tail calls where possible.
 */
#include "kbl_footprint.h"
#include "kbl_hot.h"

/* The footprint does not fit, or a LOST record must precede it. */
static noinline int kbl_enter_batch(struct kbl_cpu *c, struct kbl_target *t, struct kbl_known *k,
				    struct kbl_ticket *ticket)
{
	if (!kbl_footprint_batch(c, k->addr, &k->fp))
		c->free->span.flags |= KBL_FLAG_EXT_LOST;
	return kbl_enter_end(c, t, ticket);
}
NOKPROBE_SYMBOL(kbl_enter_batch);

/* The skb cannot be read. */
static noinline int kbl_enter_lost(struct kbl_cpu *c, struct kbl_target *t, struct kbl_known *k,
				   struct kbl_ticket *ticket)
{
	kbl_known_none(k);
	c->free->span.flags |= KBL_FLAG_EXT_LOST;
	return kbl_enter_end(c, t, ticket);
}
NOKPROBE_SYMBOL(kbl_enter_lost);

/*
 * Record the changed fields of a packet that moved on.  As above, every function call here is a
 * tail call.
 */
static __always_inline int kbl_enter_further(struct kbl_cpu *c, struct kbl_target *t,
					     struct kbl_known *k, struct kbl_ticket *ticket)
{
	const struct sk_buff *skb = (const struct sk_buff *)(unsigned long)k->addr;
	union kbl_slot *slot;

	if (unlikely(kbl_fields_load(k, skb)))
		return kbl_enter_lost(c, t, k, ticket);
	slot = kbl_room(c, 1 + k->fp.slots);
	if (unlikely(!slot) || unlikely(c->slow))
		return kbl_enter_batch(c, t, k, ticket);
	kbl_put(c, kbl_footprint_fill(c, slot, k));
	return kbl_enter_end(c, t, ticket);
}

/* The packet is at another device than the one in @k. */
static noinline int kbl_enter_device(struct kbl_cpu *c, struct kbl_target *t, struct kbl_known *k,
				     u64 dev, struct kbl_ticket *ticket)
{
	struct kbl_ext_skb *ext = &k->fp.skb;

	ext->ifindex = 0;
	ext->netns = 0;
	kbl_dev_find((const void *)(unsigned long)dev, &ext->ifindex, &ext->netns);
	k->dev = dev;
	return kbl_enter_further(c, t, k, ticket);
}
NOKPROBE_SYMBOL(kbl_enter_device);

/*
 * The rest of kbl_enter_plain() if only the skb's own fields changed.  The call's entry is
 * already filled.
 */
int kbl_enter_moved(struct kbl_cpu *c, struct kbl_target *t, struct kbl_known *k,
		    struct pt_regs *regs, struct kbl_ticket *ticket)
{
	const struct sk_buff *skb = (const struct sk_buff *)(unsigned long)k->addr;
	int err = 0;
	u64 dev;

	kbl_load(dev, (u64 *)&skb->dev, err);
	if (!err && dev != k->dev)
		return kbl_enter_device(c, t, k, dev, ticket);
	return kbl_enter_further(c, t, k, ticket);
}
NOKPROBE_SYMBOL(kbl_enter_moved);

/* The rest of kbl_enter_plain() if the headers must be parsed again. */
static noinline int kbl_enter_anew(struct kbl_cpu *c, struct kbl_target *t, struct kbl_known *k,
				   struct pt_regs *regs, struct kbl_ticket *ticket)
{
	u64 skb = c->free->span.skb;

	if (unlikely(!kbl_is_kernel(skb)))
		return kbl_enter_rest(c, t, 0, regs, ticket);
	if (unlikely(!kbl_emit_known(c, k, skb, kbl_read_anew(k, skb))))
		c->free->span.flags |= KBL_FLAG_EXT_LOST;
	return kbl_enter_end(c, t, ticket);
}
NOKPROBE_SYMBOL(kbl_enter_anew);

/* The rest of kbl_enter_plain() if the headers must be compared, too. */
static noinline int kbl_enter_watched(struct kbl_cpu *c, struct kbl_target *t,
				      struct kbl_known *k, struct pt_regs *regs,
				      struct kbl_ticket *ticket)
{
	const struct sk_buff *skb = (const struct sk_buff *)(unsigned long)k->addr;

	if (!kbl_watched_equal(k, skb))
		return kbl_enter_anew(c, t, k, regs, ticket);
	if (!kbl_fields_same(k, skb))
		return kbl_enter_moved(c, t, k, regs, ticket);
	return kbl_enter_end(c, t, ticket);
}
NOKPROBE_SYMBOL(kbl_enter_watched);

/* The rest of kbl_enter_plain() if kbl_packet_alike() returned false. */
int kbl_enter_unlike(struct kbl_cpu *c, struct kbl_target *t, struct kbl_known *k,
		     struct pt_regs *regs, struct kbl_ticket *ticket)
{
	const struct sk_buff *skb = (const struct sk_buff *)(unsigned long)c->free->span.skb;

	if (k->also != (unsigned long)skb || !kbl_same64(&skb->head, k->head) ||
	    !kbl_place_same(k, skb))
		return kbl_enter_anew(c, t, k, regs, ticket);
	if (unlikely(k->watch != (KBL_WATCH_DATA | KBL_WATCH_BARE)))
		return kbl_enter_watched(c, t, k, regs, ticket);
	if (!kbl_same64(&skb->data, k->data))
		return kbl_enter_anew(c, t, k, regs, ticket);
	if (!kbl_fields_same(k, skb))
		return kbl_enter_moved(c, t, k, regs, ticket);
	return kbl_enter_end(c, t, ticket);
}
NOKPROBE_SYMBOL(kbl_enter_unlike);
