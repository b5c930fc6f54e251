// SPDX-License-Identifier: MIT
/*
 * Print interrupts and softirqs as text: their durations, and their names.  Only some records
 * contain the name.
 */
#include <string.h>

#include "rec_text.h"

/*
 * The name in the COMM slots after a record's head slot, 15 bytes in each slot.  Returns false
 * if there is no name.
 */
bool rec_name(const union rec_slot *slot, char *name, size_t size)
{
	size_t at = 0;

	*name = 0;
	for (int i = 1; i <= slot->event.ext && at < size; i++)
		if (slot[i].comm.type == KBL_EXT_COMM)
			at += snprintf(name + at, size - at, "%.15s", slot[i].comm.comm);
	return at > 0;
}

static const char *rec_interrupt_name(struct rec_text *t, const union rec_slot *slot)
{
	kbl_u32 irq = (kbl_u32)slot->event.data;
	struct rec_irq *known = &t->irq[irq & (REC_IRQS - 1)];
	char name[sizeof(known->name)];

	if (rec_name(slot, name, sizeof(name))) {
		known->irq = irq;
		memcpy(known->name, name, sizeof(name));
	}
	return known->irq == irq && *known->name ? known->name : NULL;
}

/* Print " after 1.234 us", if the begin is known. */
static void rec_interrupt_end(kbl_u64 *began, kbl_u64 now)
{
	if (*began && now >= *began)
		printf(" after %llu.%03u us", (unsigned long long)((now - *began) / 1000),
		       (unsigned int)((now - *began) % 1000));
	*began = 0;
}

static void rec_irq_show(struct rec_text *t, struct rec_began *began, const union rec_slot *slot)
{
	static const char *const returned[] = { "not ours", "handled", "wakes its thread" };
	const char *name = rec_interrupt_name(t, slot);

	printf(" %u%s%s", (kbl_u32)slot->event.data, name ? " " : "", name ? name : "");
	if (slot->event.event == KBL_EV_IRQ_ENTRY) {
		began->irq = slot->event.ts;
		return;
	}
	if (slot->event.data >> 32 < 3)
		printf(" %s", returned[slot->event.data >> 32]);
	rec_interrupt_end(&began->irq, slot->event.ts);
}

static void rec_softirq_show(struct rec_began *began, const struct kbl_event_slot *event)
{
	const char *word = rec_softirq_word(event->data);

	if (word)
		printf(" %s", word);
	else
		printf(" %llu", (unsigned long long)event->data);
	if (event->event == KBL_EV_SOFTIRQ_ENTRY)
		began->softirq = event->ts;
	else
		rec_interrupt_end(&began->softirq, event->ts);
}

/* Show an event of an interrupt on this CPU; other events print nothing. */
void rec_interrupt_show(struct rec_text *t, unsigned int cpu, const union rec_slot *slot)
{
	switch (slot->event.event) {
	case KBL_EV_IRQ_ENTRY:
	case KBL_EV_IRQ_EXIT:
		rec_irq_show(t, &t->began[cpu], slot);
		break;
	case KBL_EV_SOFTIRQ_ENTRY:
	case KBL_EV_SOFTIRQ_EXIT:
		rec_softirq_show(&t->began[cpu], &slot->event);
		break;
	}
}
