// SPDX-License-Identifier: GPL-2.0-only
/* Interrupts and softirqs, which used a CPU's time while packets waited. */
#include <linux/hash.h>

#include "kbl_events.h"

#define KBL_NAMED_BITS 8

/*
 * State of one CPU: how many starts were recorded whose ends are still to come, and the hash of
 * the handler that was named last for an interrupt, 0 = none.  Handlers that share an
 * interrupt, and interrupts that share a slot here, are named each time they alternate.
 */
struct kbl_irqs {
	unsigned int irqs;
	unsigned int softirqs;
	u32 named[1 << KBL_NAMED_BITS];
};

static DEFINE_PER_CPU(struct kbl_irqs, kbl_irqs);

void kbl_irq_start(void)
{
	int cpu;

	for_each_possible_cpu(cpu)
		memset(per_cpu_ptr(&kbl_irqs, cpu), 0, sizeof(kbl_irqs));
}

/* The recorder starts a new file: this CPU writes the names of its interrupts again. */
void kbl_irq_forget(void)
{
	struct kbl_irqs *irqs = this_cpu_ptr(&kbl_irqs);

	memset(irqs->named, 0, sizeof(irqs->named));
}

/* A handler's name is recorded once, and again after it was lost. */
void kbl_on_irq_handler_entry(void *data, int irq, struct irqaction *action)
{
	u32 handler = hash_ptr(action, 32), *named;
	struct kbl_event_slot *event;
	struct kbl_irqs *irqs;
	struct kbl_cpu *c;

	c = kbl_event_open();
	if (!c)
		return;
	irqs = this_cpu_ptr(&kbl_irqs);
	irqs->irqs++;
	named = &irqs->named[hash_32(irq, KBL_NAMED_BITS)];
	event = kbl_event(c, KBL_EV_IRQ_ENTRY, 0, irq);
	if (*named != handler && action->name)
		event->ext = kbl_name_ext(c, action->name);
	*named = handler;
	if (!kbl_batch_close(c))
		*named = 0;
}
NOKPROBE_SYMBOL(kbl_on_irq_handler_entry);

/* @begun: recorded starts on this CPU.  An end is recorded only if its start was. */
static __always_inline void kbl_end_event(u8 kind, u64 data, unsigned int *begun)
{
	if (!*begun)
		return;
	--*begun;
	kbl_event_alone(kind, 0, data);
}

void kbl_on_irq_handler_exit(void *data, int irq, struct irqaction *action, int ret)
{
	kbl_end_event(KBL_EV_IRQ_EXIT, (u32)irq | (u64)ret << 32, &this_cpu_ptr(&kbl_irqs)->irqs);
}
NOKPROBE_SYMBOL(kbl_on_irq_handler_exit);

void kbl_on_softirq_entry(void *data, unsigned int vec)
{
	if (unlikely(!data_race(kbl_active)))
		return;
	this_cpu_ptr(&kbl_irqs)->softirqs++;
	kbl_event_alone(KBL_EV_SOFTIRQ_ENTRY, 0, vec);
}
NOKPROBE_SYMBOL(kbl_on_softirq_entry);

void kbl_on_softirq_exit(void *data, unsigned int vec)
{
	kbl_end_event(KBL_EV_SOFTIRQ_EXIT, vec, &this_cpu_ptr(&kbl_irqs)->softirqs);
}
NOKPROBE_SYMBOL(kbl_on_softirq_exit);
