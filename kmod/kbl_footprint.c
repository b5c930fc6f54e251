// SPDX-License-Identifier: GPL-2.0-only
/* The footprints that each CPU recorded last, so that an unchanged one is not recorded again. */
#include "kbl_hot.h"

#ifdef __BIG_ENDIAN
const u64 kbl_place_mask = 0xffff0000ffff0000ULL;
#else
const u64 kbl_place_mask = 0x0000ffff0000ffffULL;
#endif

/* Compare the headers, and the fields that only some packets need compared. */
static __always_inline bool kbl_watched_equal(const struct kbl_known *k, const struct sk_buff *skb)
{
	const u64 *l3 = k->l3;

	if (k->watch & KBL_WATCH_DATA && !kbl_same64(&skb->data, k->data))
		return false;
	if (k->watch & KBL_WATCH_BARE)
		return true;
	if (!kbl_headers_same(k))
		return false;
	return !(k->watch & KBL_WATCH_IPV6) || (kbl_same64(l3 + 2, k->l3_word[2]) &&
		kbl_same64(l3 + 3, k->l3_word[3]) && kbl_same64(l3 + 4, k->l3_word[4]));
}

bool kbl_watched_same(const struct kbl_known *k, const struct sk_buff *skb)
{
	return kbl_watched_equal(k, skb);
}
NOKPROBE_SYMBOL(kbl_watched_same);

/* Mark the entry as unused: the skb was not recorded, or cannot be read. */
static __always_inline void kbl_known_none(struct kbl_known *k)
{
	k->addr = 0;
	/* No skb has this address, not even NULL. */
	k->watched = 1;
	k->also = 1;
}

/* After a loss: TASK and FOOTPRINT records before it do not count any more. */
void kbl_forget(struct kbl_cpu *c)
{
	unsigned int i;

	for (i = 0; i < 1 << KBL_KNOWN_BITS; i++)
		kbl_known_none(&c->known[i]);
	c->last_who.pid = U32_MAX;
	c->remembers = false;
}
NOKPROBE_SYMBOL(kbl_forget);

/* Not a loop: compilers do not unroll it. */
static __always_inline void kbl_slot_copy(u64 *to, const u64 *from)
{
	to[0] = from[0];
	to[1] = from[1];
	to[2] = from[2];
	to[3] = from[3];
}

static __always_inline void kbl_footprint_copy(u64 *to, const struct kbl_footprint *fp)
{
	const u64 *from = (const u64 *)fp;

	kbl_slot_copy(to, from);
	if (fp->slots == 1)
		return;
	kbl_slot_copy(to + 4, from + 4);
	if (likely(fp->slots == 2))
		return;
	kbl_slot_copy(to + 8, from + 8);
}

/* The earlier footprint is given as words. */
static __always_inline bool kbl_footprint_same(const u64 *was, unsigned int slots,
					       const struct kbl_footprint *fp)
{
	const u64 *now = (const u64 *)fp;
	unsigned int i;

	if (slots != fp->slots)
		return false;
	for (i = 0; i < slots * (KBL_SLOT_SIZE / sizeof(u64)); i++)
		if (was[i] != now[i])
			return false;
	return true;
}

static void kbl_footprint_write(struct kbl_cpu *c, u64 skb, const struct kbl_footprint *fp)
{
	struct kbl_event_slot *event = kbl_event(c, KBL_EV_FOOTPRINT, skb, 0);

	c->nlosable--;
	c->remembers = true;
	event->ext = fp->slots;
	kbl_footprint_copy((u64 *)(event + 1), fp);
	c->nslots += fp->slots;
}
NOKPROBE_SYMBOL(kbl_footprint_write);

int kbl_footprint_read(struct kbl_footprint *fp, u64 skb)
{
	struct kbl_known k;
	int err = kbl_skb_read(&k, skb);

	*fp = k.fp;
	return err;
}
NOKPROBE_SYMBOL(kbl_footprint_read);

/* Inside a batch: record @fp unless it is the footprint that this CPU recorded last of @skb. */
void kbl_footprint_emit(struct kbl_cpu *c, u64 skb, const struct kbl_footprint *fp)
{
	struct kbl_known *k = kbl_known_slot(c, skb);

	if (k->addr == skb && kbl_footprint_same((const u64 *)&k->fp, k->fp.slots, fp))
		return;
	kbl_known_none(k);
	k->addr = skb;
	k->fp = *fp;
	kbl_footprint_write(c, skb, fp);
}
NOKPROBE_SYMBOL(kbl_footprint_emit);

/* Read the fields of the skb itself, except the device. */
static __always_inline int kbl_fields_load(struct kbl_known *k, const struct sk_buff *skb)
{
	struct kbl_ext_skb *ext = &k->fp.skb;
	int err = 0;
	u64 data;

	kbl_load(ext->sk, (u64 *)&skb->sk, err);
	kbl_load(data, (u64 *)&skb->data, err);
	kbl_load(ext->len, &skb->len, err);
	kbl_load(ext->mark, &skb->mark, err);
	kbl_load(*(u32 *)&ext->gso_size, (u32 *)k->gso, err);
	k->end = data + ext->len;
	return err;
}

/*
 * Usually a packet moves on and its headers stay the same.  Then they need not be parsed again:
 * only the fields of the skb itself are read, one of which has changed. Returns 1 or -EFAULT.
 */
static __always_inline int kbl_refresh(struct kbl_known *k, const struct sk_buff *skb)
{
	struct kbl_ext_skb *ext = &k->fp.skb;
	int err = kbl_fields_load(k, skb);
	u64 dev;

	kbl_load(dev, (u64 *)&skb->dev, err);
	if (unlikely(err)) {
		kbl_known_none(k);
		return err;
	}
	if (dev != k->dev) {
		ext->ifindex = 0;
		ext->netns = 0;
		kbl_dev_find((const void *)(unsigned long)dev, &ext->ifindex, &ext->netns);
		k->dev = dev;
	}
	return 1;
}

/* Read the whole footprint in place.  Returns 1 if it changed, 0 or -EFAULT. */
static int kbl_read_anew(struct kbl_known *k, u64 addr)
{
	u64 was[12] KBL_NOT_CLEARED;
	unsigned int slots = 0;

	if (k->addr == addr) {
		kbl_footprint_copy(was, &k->fp);
		slots = k->fp.slots;
	}
	if (unlikely(kbl_skb_read(k, addr))) {
		kbl_known_none(k);
		return -EFAULT;
	}
	return !kbl_footprint_same(was, slots, &k->fp);
}
NOKPROBE_SYMBOL(kbl_read_anew);

/* Update @k.  Returns 1 if the footprint must be recorded, 0 if it was, or -EFAULT. */
static __always_inline int kbl_known_update(struct kbl_known *k, u64 addr)
{
	const struct sk_buff *skb = (const struct sk_buff *)(unsigned long)addr;

	if (!kbl_packet_same(k, skb))
		return kbl_read_anew(k, addr);
	return kbl_fields_same(k, skb) ? 0 : kbl_refresh(k, skb);
}

/*
 * Inside a batch: record the footprint unless this CPU recorded the same one last.  Returns 0
 * or -EFAULT.
 */
int kbl_skb_emit(struct kbl_cpu *c, u64 skb)
{
	struct kbl_known *k = kbl_known_slot(c, skb);
	int changed = kbl_known_update(k, skb);

	if (changed > 0)
		kbl_footprint_write(c, skb, &k->fp);
	return min(changed, 0);
}
NOKPROBE_SYMBOL(kbl_skb_emit);

static noinline bool kbl_footprint_batch(struct kbl_cpu *c, u64 skb, const struct kbl_footprint *fp)
{
	kbl_batch_begin(c);
	kbl_footprint_write(c, skb, fp);
	return kbl_batch_end(c);
}
NOKPROBE_SYMBOL(kbl_footprint_batch);

/* Write a footprint into reserved slots, at the time c->now; returns the slot after it. */
static __always_inline union kbl_slot *kbl_footprint_fill(struct kbl_cpu *c, union kbl_slot *slot,
							  const struct kbl_known *k)
{
	kbl_event_fill(slot, c->now, KBL_EV_FOOTPRINT, k->fp.slots, k->addr, 0);
	kbl_footprint_copy(slot[1].words, &k->fp);
	c->remembers = true;
	c->written++;
	return slot + 1 + k->fp.slots;
}

/* Outside a batch: record @k at the time c->now if it @changed; false if it is lost. */
static __always_inline bool kbl_emit_known(struct kbl_cpu *c, const struct kbl_known *k, u64 skb,
					   int changed)
{
	union kbl_slot *slot;

	if (changed <= 0)
		return !changed;
	slot = c->slow ? NULL : kbl_room(c, 1 + k->fp.slots);
	if (unlikely(!slot))
		return kbl_footprint_batch(c, skb, &k->fp);
	kbl_put(c, kbl_footprint_fill(c, slot, k));
	return true;
}

/*
 * Outside a batch: record the footprint at the time c->now, unless this CPU recorded the same
 * one last.  Returns false if it cannot be read or is lost.  No TASK record is needed before
 * it, since an event contains its thread.
 */
bool kbl_skb_emit_alone(struct kbl_cpu *c, u64 skb)
{
	struct kbl_known *k = kbl_known_slot(c, skb);

	return kbl_emit_known(c, k, skb, kbl_known_update(k, skb));
}
NOKPROBE_SYMBOL(kbl_skb_emit_alone);

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
