// SPDX-License-Identifier: GPL-2.0-only
/* Page faults.  Only x86 has tracepoints for them, and only for their begins. */
#include <linux/mm.h>

#include "kbl_events.h"

#ifdef CONFIG_X86
/* While the module writes a record, its own reads may fault.  These faults are not recorded. */
static __always_inline void kbl_page_fault(unsigned long address, unsigned long error_code)
{
	if (kbl_is_busy(__this_cpu_read(kbl_cpu)))
		return;
	kbl_event_alone(KBL_EV_PAGE_FAULT, 0,
			(address & PAGE_MASK) | (error_code & ~PAGE_MASK));
}

void kbl_on_page_fault_user(void *data, unsigned long address, struct pt_regs *regs,
			    unsigned long error_code)
{
	kbl_page_fault(address, error_code);
}
NOKPROBE_SYMBOL(kbl_on_page_fault_user);

void kbl_on_page_fault_kernel(void *data, unsigned long address, struct pt_regs *regs,
			      unsigned long error_code)
{
	kbl_page_fault(address, error_code);
}
NOKPROBE_SYMBOL(kbl_on_page_fault_kernel);
#endif
