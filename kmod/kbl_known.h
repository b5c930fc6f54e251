/* SPDX-License-Identifier: GPL-2.0-only */
/* Is an skb still what was told of it?  A part of kbl_hot.h. */
#ifndef KBL_KNOWN_H
#define KBL_KNOWN_H

#include <linux/hash.h>

#include "kbl_arch.h"
#include "kbl_internal.h"

/* From the middle of the product: there it needs a mask only. */
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

/* Are the headers what they were? */
static __always_inline bool kbl_headers_same(const struct kbl_known *k)
{
	const u64 *l3 = k->l3, *l4 = k->l4;

	return kbl_same64(l3, k->l3_word[0]) && kbl_same64(l3 + 1, k->l3_word[1]) &&
	       kbl_same32(l3 + 2, k->l3_word[2]) &&
	       kbl_same64(l4, k->l4_word[0]) && kbl_same64(l4 + 1, k->l4_word[1]);
}

/* Two fields with one between them that does not matter, in one word where they lie so. */
#define KBL_PLACE_WHOLE (offsetof(struct sk_buff, network_header) == \
			 offsetof(struct sk_buff, protocol) + 4)

static __always_inline bool kbl_place_same(const struct kbl_known *k, const struct sk_buff *skb)
{
	const u16 *was = (const u16 *)&k->place;

	if (KBL_PLACE_WHOLE)
		return kbl_same_masked((const u64 *)&skb->protocol, &k->place, &kbl_place_mask);
	return kbl_same16(&skb->protocol, was[0]) && kbl_same16(&skb->network_header, was[2]);
}

/* Is all as it was that must be read to take the headers apart, where @k->watch is 0? */
static __always_inline bool kbl_packet_alike(const struct kbl_known *k, const struct sk_buff *skb)
{
	return likely(k->watched == (unsigned long)skb) && kbl_same64(&skb->head, k->head) &&
	       kbl_place_same(k, skb) && kbl_headers_same(k);
}

/* The same where it is not. */
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
 * And the rest?  Headers are pushed and pulled at every layer; what lies behind data
 * ends where it ended then, and only what is added or cut off counts.
 */
static __always_inline bool kbl_fields_same(const struct kbl_known *k, const struct sk_buff *skb)
{
	return kbl_same64(&skb->dev, k->dev) && kbl_same64(&skb->sk, k->fp.skb.sk) &&
	       kbl_same_sum((const u64 *)&skb->data, &skb->len, k->end) &&
	       kbl_same32(&skb->mark, k->fp.skb.mark) &&
	       kbl_same32(k->gso, *(const u32 *)&k->fp.skb.gso_size);
}

/* Does the skb still hold what @k says? */
static __always_inline bool kbl_known_same(const struct kbl_known *k, u64 addr)
{
	const struct sk_buff *skb = (const struct sk_buff *)(unsigned long)addr;

	return kbl_packet_same(k, skb) && kbl_fields_same(k, skb);
}

/* Does the skb still hold what this CPU told of it? */
static __always_inline bool kbl_skb_same(struct kbl_cpu *c, u64 addr)
{
	return kbl_known_same(kbl_known_slot(c, addr), addr);
}

#endif /* KBL_KNOWN_H */
