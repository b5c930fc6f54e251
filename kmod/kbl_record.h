/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Writing records: times, slots and batches.  All functions are inline, because each call of a
 * probed function runs through them.
 */
#ifndef KBL_RECORD_H
#define KBL_RECORD_H

#include <linux/ktime.h>

#include "kbl_arch.h"
#include "kbl_context.h"
#include "kbl_internal.h"

#define KBL_CLOCK_SHIFT 32	/* shift of the multiplier from cycles to ns, see kbl_scale() */

/* Position of a slot's field in its first word. */
#ifdef __BIG_ENDIAN
#define KBL_FIELD(type, field, value) ((u64)(value) << (64 - 8 * offsetofend(type, field)))
#else
#define KBL_FIELD(type, field, value) ((u64)(value) << (8 * offsetof(type, field)))
#endif
#define KBL_HEAD(field, value) KBL_FIELD(struct kbl_span_slot, field, value)
#define KBL_EVENT_HEAD(field, value) KBL_FIELD(struct kbl_event_slot, field, value)

/* Read the time from cycles.  Valid only if kbl_instant_new() returns true. */
static __always_inline u64 kbl_instant_guess(struct kbl_cpu *c)
{
#ifdef KBL_ARCH_CYCLES
	return kbl_scale(kbl_cycles(), c->clock_mult) + c->clock_base;
#else
	return kbl_clock_read(c);
#endif
}

/* Times of a CPU must increase, and cycles are trusted only until clock_until. */
static __always_inline bool kbl_instant_new(const struct kbl_cpu *c, u64 now)
{
#ifdef KBL_ARCH_CYCLES
	return likely(now < c->clock_until) && likely(now > c->now);
#else
	return true;
#endif
}

/* Return the next time of this CPU. */
static __always_inline u64 kbl_instant(struct kbl_cpu *c)
{
	u64 now = kbl_instant_guess(c);

	if (unlikely(!kbl_instant_new(c, now)))
		now = kbl_clock_read(c);
	c->now = now;
	return now;
}

/* Room for @slots slots in the current sub-buffer, or NULL. */
static __always_inline union kbl_slot *kbl_room(const struct kbl_cpu *c, unsigned int slots)
{
	return likely(c->at + slots <= c->end) ? c->at : NULL;
}

/*
 * Can records be written at c->at without a batch?  There must be room for three slots, and
 * neither LOST nor TASK must precede them.
 */
static __always_inline bool kbl_room_next(const struct kbl_cpu *c)
{
	return likely(c->at < c->limit) && likely(kbl_task_same(c));
}

/* Publish the slots up to @to: the data must be visible before c->at. */
static __always_inline void kbl_put(struct kbl_cpu *c, union kbl_slot *to)
{
	/* Pairs with the reader in kbl_readable(). */
	smp_wmb();
	WRITE_ONCE(c->at, to);
}

/* Records were lost, or calls nested: a LOST record must precede the next record. */
static __always_inline void kbl_slow(struct kbl_cpu *c)
{
	c->slow = true;
	WRITE_ONCE(c->limit, NULL);
}

/* Fill the whole head slot of an event. */
static __always_inline void kbl_event_fill(union kbl_slot *slot, u64 now, u8 event, u8 ext,
					   u64 skb, u64 data)
{
	slot->words[0] = KBL_EVENT_HEAD(kind, KBL_EVENT) | KBL_EVENT_HEAD(event, event) |
			 KBL_EVENT_HEAD(context, kbl_context(false)) | KBL_EVENT_HEAD(ext, ext) |
			 KBL_EVENT_HEAD(pid, (u32)current->pid);
	slot->event.ts = now;
	slot->event.skb = skb;
	slot->event.data = data;
}

/* Write an event without EXT slots, at the time c->now; returns the slot after it. */
static __always_inline union kbl_slot *kbl_event_write(struct kbl_cpu *c, union kbl_slot *slot,
						       u8 event, u64 skb, u64 data)
{
	kbl_event_fill(slot, c->now, event, 0, skb, data);
	c->written++;
	return slot + 1;
}

/* True if the batch has no room for one more record with all its EXT slots. */
static __always_inline bool kbl_batch_full(const struct kbl_cpu *c)
{
	return c->nslots + 1 + KBL_MAX_EXT > KBL_BATCH_SLOTS;
}

/* Reserve a head slot.  The caller must fill it completely. */
static __always_inline union kbl_slot *kbl_head_raw(struct kbl_cpu *c)
{
	if (unlikely(kbl_batch_full(c)))
		kbl_batch_part(c);
	c->nheads++;
	c->nlosable++;
	return &c->base[c->nslots++];
}

/*
 * A record is written between kbl_busy() and kbl_idle(), with interrupts off.  An NMI in
 * between sees c->irq and changes nothing.  An NMI before kbl_busy() restores everything it
 * changed.
 */
static __always_inline bool kbl_is_busy(const struct kbl_cpu *c)
{
	return c->irq;
}

/* @irq: result of kbl_irq_off().  It is stored here because that saves a register. */
static __always_inline void kbl_busy(struct kbl_cpu *c, unsigned long irq)
{
	WRITE_ONCE(c->irq, irq);
}

static __always_inline void kbl_idle(struct kbl_cpu *c, bool pv)
{
	kbl_irq_end(&c->irq, pv);
}

/* Add EXT_CALL to a CALL whose return value or duration does not fit the head slot. */
static __always_inline void kbl_write_ext(union kbl_slot *slot, const struct kbl_target *t,
					  u64 dur, long ret)
{
	u64 more = KBL_HEAD(ext, 1);

	if (t->returns == KBL_RETURNS_INT)
		ret = (int)ret;
	/* Rare, so the common path computes nothing for it.  The clock may step back. */
	if (unlikely(dur >= U32_MAX)) {
		dur = max_t(s64, dur, 0);
		WRITE_ONCE(slot->span.dur, min_t(u64, dur, U32_MAX));
	}
	if (t->ret_skb && kbl_is_kernel(ret))
		more |= KBL_HEAD(flags, KBL_FLAG_SKB_IS_RET);
	slot->words[0] |= more;
	slot[1].words[0] = 0;
	slot[1].ext_call.kind = KBL_EXT;
	slot[1].ext_call.type = KBL_EXT_CALL;
	slot[1].ext_call.dur = dur;
	slot[1].ext_call.ret = ret;
	slot[1].ext_call.pad3 = 0;
}

/* Write a CALL over old slots; returns the slot after it. */
static __always_inline union kbl_slot *kbl_write_call(union kbl_slot *slot,
						      const struct kbl_call *call,
						      const struct kbl_target *t, u64 now,
						      unsigned long ret)
{
	u64 dur = now - call->span.ts;

	slot->words[0] = call->words[0];
	slot->words[1] = call->words[1];
	slot->words[2] = call->words[2];
	slot->span.caller = call->span.caller;
	slot->span.dur = dur;
	if (unlikely(ret | (dur + 1) >> 32))
		kbl_write_ext(slot++, t, dur, ret);
	return slot + 1;
}

/* Only the CPU of the entry may link it into its free list. */
static __always_inline void kbl_call_free(struct kbl_cpu *c, struct kbl_call *call)
{
	call->next = c->free;
	c->free = call;
}

/* Mark the entry as unused: the skb was not recorded, or cannot be read. */
static __always_inline void kbl_known_none(struct kbl_known *k)
{
	k->addr = 0;
	/* No skb has this address, not even NULL. */
	k->watched = 1;
	k->also = 1;
}

/* The address relative to _stext, as files have it; 0 if it is too far away. */
static __always_inline s32 kbl_offset(unsigned long addr)
{
	s64 offset = addr - kbl_stext;

	return offset == (s32)offset ? offset : 0;
}

#endif /* KBL_RECORD_H */
