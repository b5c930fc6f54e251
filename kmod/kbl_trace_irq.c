// SPDX-License-Identifier: GPL-2.0-only
/* Interrupts and softirqs: what else took a CPU's time while packets waited. */
#include <linux/bitmap.h>

#include "kbl_events.h"

#define KBL_NAMED_IRQS 1024	/* those above tell their name each time */

/* Of one CPU: the begins told whose ends are awaited, and the interrupts named. */
struct kbl_irqs {
	unsigned int irqs;
	unsigned int softirqs;
	unsigned long named[BITS_TO_LONGS(KBL_NAMED_IRQS)];
};

static DEFINE_PER_CPU(struct kbl_irqs, kbl_irqs);

void kbl_irq_start(void)
{
	int cpu;

	for_each_possible_cpu(cpu)
		memset(per_cpu_ptr(&kbl_irqs, cpu), 0, sizeof(kbl_irqs));
}

static __always_inline void kbl_irq_name(struct kbl_cpu *c, struct kbl_event_slot *event,
					 const struct irqaction *action)
{
	struct kbl_ext_comm *ext;

	if (!action->name)
		return;
	event->ext = 1;
	ext = &kbl_ext(c, KBL_EXT_COMM)->comm;
	strscpy(ext->comm, action->name, sizeof(ext->comm));
}

/* An interrupt's name is told once, and again after it was lost. */
void kbl_on_irq_handler_entry(void *data, int irq, struct irqaction *action)
{
	struct kbl_event_slot *event;
	struct kbl_irqs *irqs;
	unsigned long flags;
	struct kbl_cpu *c;

	c = kbl_batch_open(&flags);
	if (!c)
		return;
	irqs = this_cpu_ptr(&kbl_irqs);
	irqs->irqs++;
	event = kbl_event(c, KBL_EV_IRQ_ENTRY, 0, irq);
	if (irq >= KBL_NAMED_IRQS || !__test_and_set_bit(irq, irqs->named))
		kbl_irq_name(c, event, action);
	if (!kbl_batch_close(c, flags))
		memset(irqs->named, 0, sizeof(irqs->named));
}
NOKPROBE_SYMBOL(kbl_on_irq_handler_entry);

/* @told: of this CPU.  An end whose begin was not told is not told. */
static __always_inline void kbl_end_event(u8 kind, u64 data, unsigned int *told)
{
	if (!*told)
		return;
	--*told;
	kbl_event_alone(kind, 0, data);
}

void kbl_on_irq_handler_exit(void *data, int irq, struct irqaction *action, int ret)
{
	kbl_end_event(KBL_EV_IRQ_EXIT, (u32)irq | (u64)ret << 32, &this_cpu_ptr(&kbl_irqs)->irqs);
}
NOKPROBE_SYMBOL(kbl_on_irq_handler_exit);

void kbl_on_softirq_entry(void *data, unsigned int vec)
{
	this_cpu_ptr(&kbl_irqs)->softirqs++;
	kbl_event_alone(KBL_EV_SOFTIRQ_ENTRY, 0, vec);
}
NOKPROBE_SYMBOL(kbl_on_softirq_entry);

void kbl_on_softirq_exit(void *data, unsigned int vec)
{
	kbl_end_event(KBL_EV_SOFTIRQ_EXIT, vec, &this_cpu_ptr(&kbl_irqs)->softirqs);
}
NOKPROBE_SYMBOL(kbl_on_softirq_exit);
