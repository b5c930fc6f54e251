// SPDX-License-Identifier: MIT
/*
 * Over the records as they came from the kernel: how many, from when to when,
 * and which symbols they speak of.  Runs over every record, on the CPU it
 * records: a CALL without EXT takes a dozen instructions.
 */
#include <string.h>

#include "rec.h"

#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
#define REC_KIND_AND_EXT 0xff0000ffu
#define REC_PLAIN_CALL ((kbl_u32)KBL_CALL << 24)
#else
#define REC_KIND_AND_EXT 0xff0000ffu
#define REC_PLAIN_CALL ((kbl_u32)KBL_CALL)
#endif

/* Direct-mapped: a slot never holds a caller of another place, see rec_symbols_reload(). */
static inline void rec_note(struct rec_symbols *s, kbl_s32 caller)
{
	kbl_s32 *seen = &s->callers[caller & (REC_CALLERS - 1)];

	if (__builtin_expect(*seen == caller, 1))
		return;
	*seen = caller;
	rec_symbols_use(s, s->stext + caller);
}

static void rec_note_stack(struct rec_symbols *s, const char *slot, unsigned int exts)
{
	for (; exts--; slot += KBL_SLOT_SIZE) {
		const struct kbl_ext_drop *drop = (const void *)slot;

		for (int i = 0; drop->type == KBL_EXT_DROP && i < 6; i++)
			if (drop->stack[i])
				rec_note(s, drop->stack[i]);
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

/* Slots that a record takes; 0: it is none. */
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

/* When it was written: a CALL at its end. */
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

/*
 * Returns the bytes of the whole records, at most w->limit of them if that is
 * not 0.  What is no record ends the program: nothing behind it can be told.
 */
size_t rec_walk(struct rec_walk *w, struct rec_symbols *s, const char *data, size_t len)
{
	const char *p = data, *end = data + (len & -KBL_SLOT_SIZE), *last = data;
	kbl_u32 heads = 0, most = w->limit && w->limit < ~0u ? w->limit : ~0u;

	while (p < end && heads < most) {
		const struct kbl_span_slot *call = (const void *)p;
		unsigned int slots = 1;
		kbl_u32 start;

		memcpy(&start, p, sizeof(start));
		if (__builtin_expect((start & REC_KIND_AND_EXT) == REC_PLAIN_CALL, 1))
			rec_note(s, call->caller);
		else
			slots = rec_slots(s, p, end - p);
		if (!slots)
			rec_die("the kernel module wrote what is no record: kind %d", call->kind);
		if (slots * KBL_SLOT_SIZE > (size_t)(end - p))
			break;
		last = p;
		p += slots * KBL_SLOT_SIZE;
		heads++;
	}
	w->heads = heads;
	w->first_ns = heads ? rec_written_ns(data) : 0;
	w->last_ns = heads ? rec_written_ns(last) : 0;
	return p - data;
}
