// SPDX-License-Identifier: MIT
/*
 * Walk over the records from the kernel, to count them and to find their times and the symbols
 * to which they refer.  This runs for every record, on the CPU that is being recorded: a CALL
 * takes 11 instructions.
 */
#include "rec.h"

#define REC_AT_ONCE 4

/* A direct-mapped cache of callers.  All callers in it are valid, see rec_symbols_reload(). */
static inline void rec_note(struct rec_symbols *s, kbl_s32 caller)
{
	kbl_s32 *seen = &s->callers[(kbl_u16)caller];

	if (__builtin_expect(*seen == caller, 1))
		return;
	*seen = caller;
	rec_symbols_use(s, s->stext + caller);
}

static void rec_note_stack(struct rec_symbols *s, const char *slot, unsigned int exts)
{
	for (; exts--; slot += KBL_SLOT_SIZE) {
		/* EXT DROP and EXT STACK have their addresses at the same place. */
		const struct kbl_ext_stack *ext = (const void *)slot;
		bool stack = ext->type == KBL_EXT_DROP || ext->type == KBL_EXT_STACK;

		for (int i = 0; stack && i < 6; i++)
			if (ext->stack[i])
				rec_note(s, ext->stack[i]);
	}
}

static void rec_note_event(struct rec_symbols *s, const struct kbl_event_slot *event)
{
	if (event->event == KBL_EV_DROP || event->event == KBL_EV_CONSUME)
		rec_note(s, event->data >> 32);
	else if (event->event == KBL_EV_MODULE)
		s->stale = true;
	rec_note_stack(s, (const char *)(event + 1), event->ext);
}

/* The number of slots of a record; 0: it is not a record. */
static unsigned int rec_slots(struct rec_symbols *s, const char *slot, size_t room)
{
	const struct kbl_call_slot *head = (const void *)slot;

	if (head->kind < KBL_ENTRY || head->kind > KBL_LOST || head->ext > KBL_MAX_EXT)
		return 0;
	if ((1u + head->ext) * KBL_SLOT_SIZE > room)
		return 1u + head->ext;
	if (head->kind == KBL_CALL)
		rec_note(s, ((const struct kbl_span_slot *)slot)->caller);
	else if (head->kind == KBL_ENTRY && !(head->flags & KBL_FLAG_NO_CALLER))
		rec_note(s, head->caller);
	else if (head->kind == KBL_EVENT)
		rec_note_event(s, (const void *)slot);
	return 1u + head->ext;
}

/* When the record was written: a CALL at its end. */
static kbl_u64 rec_written_ns(const char *slot)
{
	const struct kbl_span_slot *call = (const void *)slot;
	const struct kbl_ext_call *ext = (const void *)slot;

	if (call->kind != KBL_CALL)
		return call->ts;
	for (int i = 1; call->dur == 0xffffffff && i <= call->ext; i++)
		if (ext[i].type == KBL_EXT_CALL)
			return call->ts + ext[i].dur;
	return call->ts + call->dur;
}

/* The head of the record that ends at p, or is cut off there. */
static const char *rec_last_head(const char *p)
{
	do
		p -= KBL_SLOT_SIZE;
	while (*p == KBL_EXT);
	return p;
}

/* Records without anything to note. */
static inline bool rec_plain_event(const struct kbl_event_slot *event)
{
	const kbl_u64 noted = 1ull << KBL_EV_DROP | 1ull << KBL_EV_CONSUME |
			      1ull << KBL_EV_MODULE | 1ull << KBL_EV_LOCK_WAIT;

	return event->kind == KBL_EVENT && !(noted >> (event->event & 63) & 1);
}

/* A CALL whose caller is already noted, or an event with nothing to note: most records. */
static inline bool rec_plain(const kbl_s32 *callers, const char *p)
{
	const struct kbl_span_slot *call = (const void *)p;

	if (__builtin_expect(call->kind == KBL_CALL, 1))
		return callers[(kbl_u16)call->caller] == call->caller;
	return rec_plain_event((const void *)p);
}

static inline const char *rec_after(const char *p)
{
	size_t exts = (size_t)((const struct kbl_span_slot *)p)->ext * KBL_SLOT_SIZE;

	/* Without this, compilers first add one to ext, which takes an instruction more. */
	__asm__("" : "+r" (exts));
	return p + exts + KBL_SLOT_SIZE;
}

/*
 * Walk over plain records and add their number to *heads.  May return a pointer beyond end:
 * then the last record is cut off.
 */
static const char *rec_walk_plain(const kbl_s32 *callers, const char *p, const char *end,
				  kbl_u64 *heads)
{
	/* So far from the end, no record can reach beyond it. */
	const ptrdiff_t far = REC_AT_ONCE * 256 * KBL_SLOT_SIZE;
	kbl_u64 n = 0;

	while (end - p >= far) {
#pragma GCC unroll 4
		for (int i = 0; i < REC_AT_ONCE; i++) {
			if (!rec_plain(callers, p)) {
				*heads += n + i;
				return p;
			}
			p = rec_after(p);
		}
		n += REC_AT_ONCE;
	}
	for (; p < end && rec_plain(callers, p); n++)
		p = rec_after(p);
	*heads += n;
	return p;
}

/*
 * Returns the bytes of complete records, for at most w->limit records unless that is 0.
 * Anything but a record ends the program: what follows cannot be parsed.
 */
size_t rec_walk(struct rec_walk *w, struct rec_symbols *s, const char *data, size_t len)
{
	const char *p = data, *end = data + (len & -KBL_SLOT_SIZE);
	bool all = !w->limit || w->limit >= len / KBL_SLOT_SIZE;
	kbl_u64 heads = 0;

	while (p < end && (all || heads < w->limit)) {
		unsigned int slots;

		if (all)
			p = rec_walk_plain(s->callers, p, end, &heads);
		if (p >= end)
			break;
		slots = rec_slots(s, p, end - p);
		if (!slots)
			rec_die("the kernel module wrote an invalid record: kind %d", *p);
		p += slots * KBL_SLOT_SIZE;
		heads++;
	}
	if (p > end) {
		p = rec_last_head(end);
		heads--;
	}
	w->heads = heads;
	w->first_ns = heads ? rec_written_ns(data) : 0;
	w->last_ns = heads ? rec_written_ns(rec_last_head(p)) : 0;
	return p - data;
}
