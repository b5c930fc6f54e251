// SPDX-License-Identifier: GPL-2.0-only
/*
 * Functions that must not be probed, because this module calls them while it writes a record, or
 * because the kernel calls them for each hit of a probe.  Hits of such functions would interrupt
 * the very record that they belong to.
 */
#include <linux/glob.h>
#include <linux/kernel.h>
#include <linux/string.h>

#include "kbl_target.h"

/* tests/lab/test_inner.py compares this list with the functions that the module calls. */
static const char *const kbl_own_functions[] = {
	/* the clock, and the cycles behind it */
	"ktime_get_*", "read_tsc", "kvm_clock_*", "pvclock_*", "read_hv_*", "*sched_clock*",
	/* memory that may be gone, and blocks of it */
	"copy_from_kernel_nofault*", "copy_from_user_nofault", "memcpy*", "memset*", "memcmp",
	"memmove*", "__memcpy*", "__memset*", "__memmove*",
	"_find_*_bit", "sock_from_file", "dev_get_flags",
	/* stacks */
	"stack_trace_*", "arch_stack_walk*", "unwind_*", "__unwind_*", "orc_*",
	"*kernel_text_address*", "core_kernel_text",
	/* buffers, and waking their reader */
	"relay_*", "irq_work_*", "arch_irq_work_*",
	/* the kernel's interface */
	"*ftrace_*", "*fprobe*", "*kprobe*", "*rethook*", "*kretprobe*", "objpool_*",
	"*_trampoline",
	"rcu_is_watching", "__rcu_read_*", "rcu_read_*", "preempt_count_*", "__warn_printk",
};

bool kbl_target_refused(const struct kbl_target *t)
{
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(kbl_own_functions); i++)
		if (glob_match(kbl_own_functions[i], t->name))
			return true;
	return !strcmp(t->module, "kbl");
}
