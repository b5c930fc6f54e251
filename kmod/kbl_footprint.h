/* SPDX-License-Identifier: GPL-2.0-only */
/* The inline parts of recording a footprint, for kbl_footprint.c and the entry of a call. */
#ifndef KBL_FOOTPRINT_H
#define KBL_FOOTPRINT_H

#include "kbl_known.h"
#include "kbl_record.h"

bool kbl_footprint_batch(struct kbl_cpu *c, u64 skb, const struct kbl_footprint *fp);
int kbl_read_anew(struct kbl_known *k, u64 addr);

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

#endif /* KBL_FOOTPRINT_H */
