/* SPDX-License-Identifier: GPL-2.0-only */
/* Has an skb changed since this CPU recorded its footprint?  A part of kbl_hot.h. */
#ifndef KBL_KNOWN_H
#define KBL_KNOWN_H

#include <linux/hash.h>

#include "kbl_arch.h"
#include "kbl_internal.h"

/* Take bits from the middle of the product: a mask gives the offset directly. */
static __always_inline unsigned long kbl_known_offset(u64 addr)
{
	return ((u32)addr * GOLDEN_RATIO_32) & (KBL_KNOWN_SIZE * ((1 << KBL_KNOWN_BITS) - 1));
}

static __always_inline unsigned int kbl_known_index(u64 addr)
{
	return kbl_known_offset(addr) / KBL_KNOWN_SIZE;
}

static __always_inline struct kbl_known *kbl_known_slot(struct kbl_cpu *c, u64 addr)
{
	return (void *)c->known + kbl_known_offset(addr);
}

/* Are the headers unchanged? */
static __always_inline bool kbl_headers_same(const struct kbl_known *k)
{
	const u64 *l3 = k->l3, *l4 = k->l4;

	return kbl_same64(l3, k->l3_word[0]) && kbl_same64(l3 + 1, k->l3_word[1]) &&
	       kbl_same32(l3 + 2, k->l3_word[2]) &&
	       kbl_same64(l4, k->l4_word[0]) && kbl_same64(l4 + 1, k->l4_word[1]);
}

/*
 * protocol and network_header with an unrelated field between them: one 64-bit compare with a
 * mask where they are laid out like that.
 */
#define KBL_PLACE_WHOLE (offsetof(struct sk_buff, network_header) == \
			 offsetof(struct sk_buff, protocol) + 4)

static __always_inline bool kbl_place_same(const struct kbl_known *k, const struct sk_buff *skb)
{
	const u16 *was = (const u16 *)&k->place;

	if (KBL_PLACE_WHOLE)
		return kbl_same_masked((const u64 *)&skb->protocol, &k->place, &kbl_place_mask);
	return kbl_same16(&skb->protocol, was[0]) && kbl_same16(&skb->network_header, was[2]);
}

/* Is everything unchanged that the parsed headers depend on?  For skbs with @k->watch 0. */
static __always_inline bool kbl_packet_alike(const struct kbl_known *k, const struct sk_buff *skb)
{
	return likely(k->watched == (unsigned long)skb) && kbl_same64(&skb->head, k->head) &&
	       kbl_place_same(k, skb) && kbl_headers_same(k);
}

/* Like kbl_packet_alike(), but for skbs with a @k->watch other than 0. */
static __always_inline bool kbl_packet_watched(const struct kbl_known *k,
					       const struct sk_buff *skb)
{
	return k->also == (unsigned long)skb && kbl_same64(&skb->head, k->head) &&
	       kbl_place_same(k, skb) && kbl_watched_same(k, skb);
}

static __always_inline bool kbl_packet_same(const struct kbl_known *k, const struct sk_buff *skb)
{
	return kbl_packet_alike(k, skb) || kbl_packet_watched(k, skb);
}

/*
 * Are the skb's other fields unchanged?  Every layer pushes and pulls headers, so data alone
 * does not count: data + len stays unless bytes were added or cut off at the end.
 */
static __always_inline bool kbl_fields_same(const struct kbl_known *k, const struct sk_buff *skb)
{
	return kbl_same64(&skb->dev, k->dev) && kbl_same64(&skb->sk, k->fp.skb.sk) &&
	       kbl_same_sum((const u64 *)&skb->data, &skb->len, k->end) &&
	       kbl_same32(&skb->mark, k->fp.skb.mark) &&
	       kbl_same32(k->gso, *(const u32 *)&k->fp.skb.gso_size);
}

/* Is the skb's footprint still the one in @k? */
static __always_inline bool kbl_known_same(const struct kbl_known *k, u64 addr)
{
	const struct sk_buff *skb = (const struct sk_buff *)(unsigned long)addr;

	return kbl_packet_same(k, skb) && kbl_fields_same(k, skb);
}

/* Is the skb's footprint still the one that this CPU recorded last? */
static __always_inline bool kbl_skb_same(struct kbl_cpu *c, u64 addr)
{
	return kbl_known_same(kbl_known_slot(c, addr), addr);
}

#endif /* KBL_KNOWN_H */
