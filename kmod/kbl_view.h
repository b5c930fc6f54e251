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

/* Copy a few words.  @len is a compile-time constant. */
static __always_inline bool kbl_fetch(void *to, u64 from, u32 len)
{
	const u8 *p = (const u8 *)(unsigned long)from;
	int err = 0;
	u32 i = 0;

	if (!kbl_is_kernel(from))
		return false;
	for (; i + 8 <= len; i += 8)
		kbl_load(*(u64 *)((u8 *)to + i), (const u64 *)(p + i), err);
	for (; i + 4 <= len; i += 4)
		kbl_load(*(u32 *)((u8 *)to + i), (const u32 *)(p + i), err);
	for (; i + 2 <= len; i += 2)
		kbl_load(*(u16 *)((u8 *)to + i), (const u16 *)(p + i), err);
	for (; i < len; i++)
		kbl_load(*((u8 *)to + i), p + i, err);
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
