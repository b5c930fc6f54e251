/* SPDX-License-Identifier: GPL-2.0-only */
/* Switch interrupts off while a record is written.  A part of kbl_arch.h. */
#ifndef KBL_ARCH_IRQ_H
#define KBL_ARCH_IRQ_H

#include <linux/irqflags.h>
#include <linux/ptrace.h>

#if defined(CONFIG_X86_64)

/*
 * Disable and restore interrupts.  The kernel's own functions can be patched for a hypervisor
 * (@pv); without one they cost twice as much.  The saved value is never 0: one bit of the
 * register is always set.
 */
static __always_inline unsigned long kbl_irq_off(bool pv)
{
	unsigned long flags;

	if (pv) {
		local_irq_save(flags);
		flags |= X86_EFLAGS_FIXED;
	} else {
		flags = native_save_fl();
		native_irq_disable();
	}
	return flags;
}

/* Like kbl_irq_off(), but the interrupt flag must not have changed since @regs were saved. */
static __always_inline unsigned long kbl_irq_off_in(const struct pt_regs *regs, bool pv)
{
	unsigned long flags;

	if (pv)
		return kbl_irq_off(pv);
	flags = regs->flags;
	native_irq_disable();
	return flags;
}

static __always_inline void kbl_irq_back(unsigned long flags, bool pv)
{
	if (pv)
		local_irq_restore(flags);
	else if (flags & X86_EFLAGS_IF)
		native_irq_enable();
}

/* Restore interrupts from *@irq and set it to 0. */
static __always_inline void kbl_irq_end(unsigned long *irq, bool pv)
{
	unsigned long flags;

	if (pv) {
		flags = READ_ONCE(*irq);
		WRITE_ONCE(*irq, 0);
		local_irq_restore(flags);
		return;
	}
	asm volatile("testl %[on], %[irq]\n"
		     "movq $0, %[irq]\n"
		     "jz 1f\n"
		     "sti\n"
		     "1:"
		     : [irq] "+m" (*irq) : [on] "i" (X86_EFLAGS_IF) : "memory", "cc");
}

static inline bool kbl_arch_pv(void)
{
	return boot_cpu_has(X86_FEATURE_XENPV);
}

#else

#define KBL_IRQ_KEPT (1UL << (BITS_PER_LONG - 1))	/* a bit that no architecture uses */

static __always_inline unsigned long kbl_irq_off(bool pv)
{
	unsigned long flags;

	local_irq_save(flags);
	return flags | KBL_IRQ_KEPT;
}

static __always_inline unsigned long kbl_irq_off_in(const struct pt_regs *regs, bool pv)
{
	return kbl_irq_off(pv);
}

static __always_inline void kbl_irq_back(unsigned long flags, bool pv)
{
	local_irq_restore(flags & ~KBL_IRQ_KEPT);
}

static __always_inline void kbl_irq_end(unsigned long *irq, bool pv)
{
	unsigned long flags = READ_ONCE(*irq);

	WRITE_ONCE(*irq, 0);
	kbl_irq_back(flags, pv);
}

static inline bool kbl_arch_pv(void)
{
	return false;
}

#endif

#endif /* KBL_ARCH_IRQ_H */
