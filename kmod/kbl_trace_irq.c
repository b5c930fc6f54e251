// SPDX-License-Identifier: GPL-2.0-only
/* Interrupts and softirqs: what else took a CPU's time while packets waited. */
#include <linux/bitmap.h>

#include "kbl_events.h"

#define KBL_NAMED_IRQS 1024	/* those above tell their name each time */

/* The interrupts whose name this CPU has told. */
static DEFINE_PER_CPU(unsigned long[BITS_TO_LONGS(KBL_NAMED_IRQS)], kbl_named);

void kbl_irq_start(void)
{
	int cpu;

	for_each_possible_cpu(cpu)
		memset(per_cpu_ptr(&kbl_named, cpu), 0, sizeof(kbl_named));
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

void kbl_on_irq_handler_entry(void *data, int irq, struct irqaction *action)
{
	unsigned long *named, flags;
	struct kbl_event_slot *event;
	struct kbl_cpu *c;

	c = kbl_batch_open(&flags);
	if (!c)
		return;
	named = *this_cpu_ptr(&kbl_named);
	event = kbl_event(c, KBL_EV_IRQ_ENTRY, 0, irq);
	if (irq >= KBL_NAMED_IRQS || !__test_and_set_bit(irq, named))
		kbl_irq_name(c, event, action);
	if (!kbl_batch_close(c, flags) && irq < KBL_NAMED_IRQS)
		__clear_bit(irq, named);
}
NOKPROBE_SYMBOL(kbl_on_irq_handler_entry);

static __always_inline void kbl_bare_event(u8 kind, u64 data)
{
	struct kbl_cpu *c;
	unsigned long irq;

	c = kbl_batch_open(&irq);
	if (!c)
		return;
	kbl_event(c, kind, 0, data);
	kbl_batch_close(c, irq);
}

void kbl_on_irq_handler_exit(void *data, int irq, struct irqaction *action, int ret)
{
	kbl_bare_event(KBL_EV_IRQ_EXIT, (u32)irq | (u64)ret << 32);
}
NOKPROBE_SYMBOL(kbl_on_irq_handler_exit);

void kbl_on_softirq_entry(void *data, unsigned int vec)
{
	kbl_bare_event(KBL_EV_SOFTIRQ_ENTRY, vec);
}
NOKPROBE_SYMBOL(kbl_on_softirq_entry);

void kbl_on_softirq_exit(void *data, unsigned int vec)
{
	kbl_bare_event(KBL_EV_SOFTIRQ_EXIT, vec);
}
NOKPROBE_SYMBOL(kbl_on_softirq_exit);
