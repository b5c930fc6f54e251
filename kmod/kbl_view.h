/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Read a packet's bytes, in the linear area or in the first fragment, with faults caught and
 * bounds checked.
 */
#ifndef KBL_VIEW_H
#define KBL_VIEW_H

#include "kbl_arch.h"

/* The readable bytes of a packet, by offset from skb->head. */
struct kbl_view {
	u64 head;
	u64 frag;		/* address of the first fragment, 0 = none */
	u32 tail;
	u32 frag_len;
	u32 data;
	u16 protocol;
	u16 network;
};

/* The address of @len contiguous bytes; 0 if they are not contiguous. */
static __always_inline u64 kbl_at(const struct kbl_view *v, u32 offset, u32 len)
{
	if (likely(len <= v->tail && offset <= v->tail - len))
		return v->head + offset;
	if (v->frag && offset >= v->tail && offset - v->tail < v->frag_len &&
	    len <= v->frag_len - (offset - v->tail))
		return v->frag + (offset - v->tail);
	return 0;
}

/* Copy up to 47 bytes.  @len is a compile-time constant.  Not a loop, as in kbl_slot_copy(). */
static __always_inline bool kbl_fetch(void *to, u64 from, u32 len)
{
	const u64 *p = (const u64 *)(unsigned long)from;
	const u8 *rest = (const u8 *)p + (len & ~7);
	u8 *to_rest = (u8 *)to + (len & ~7);
	int err = 0;

	BUILD_BUG_ON(len >= 48);
	if (!kbl_is_kernel(from))
		return false;
	if (len >= 8)
		kbl_load(((u64 *)to)[0], p, err);
	if (len >= 16)
		kbl_load(((u64 *)to)[1], p + 1, err);
	if (len >= 24)
		kbl_load(((u64 *)to)[2], p + 2, err);
	if (len >= 32)
		kbl_load(((u64 *)to)[3], p + 3, err);
	if (len >= 40)
		kbl_load(((u64 *)to)[4], p + 4, err);
	if (len & 4)
		kbl_load(*(u32 *)to_rest, (const u32 *)rest, err);
	if (len & 2)
		kbl_load(*(u16 *)(to_rest + (len & 4)), (const u16 *)(rest + (len & 4)), err);
	if (len & 1)
		kbl_load(to_rest[len & 6], rest + (len & 6), err);
	return !err;
}

/* Read bytes that may begin in the linear area and end in the fragment: then byte by byte. */
static __always_inline bool kbl_read(const struct kbl_view *v, u32 offset, void *to, u32 len)
{
	u64 from = kbl_at(v, offset, len);
	u32 i;

	if (likely(from))
		return kbl_fetch(to, from, len);
	for (i = 0; i < len; i++) {
		from = kbl_at(v, offset + i, 1);
		if (!from || !kbl_fetch((u8 *)to + i, from, 1))
			return false;
	}
	return true;
}

#endif /* KBL_VIEW_H */
