// SPDX-License-Identifier: GPL-2.0-only
/*
 * Which thread each CPU runs, and who woke a thread.  The handlers may run while a run queue's
 * lock is held.
 */
#include <linux/sched.h>

#include "kbl_events.h"

/*
 * @prev is still the running thread, so the record names it.  Its state is 0 if it would go on:
 * another thread took the CPU away from it.
 */
void kbl_on_sched_switch(void *data, bool preempt, struct task_struct *prev,
			 struct task_struct *next, unsigned int prev_state)
{
	u32 state = preempt ? 0 : prev_state;

	kbl_event_alone(KBL_EV_SCHED_SWITCH, 0, (u32)next->pid | (u64)state << 32);
}
NOKPROBE_SYMBOL(kbl_on_sched_switch);

/* Recorded in the context that wakes @p, before its CPU is chosen. */
void kbl_on_sched_waking(void *data, struct task_struct *p)
{
	kbl_event_alone(KBL_EV_WAKE, 0, (u32)p->pid);
}
NOKPROBE_SYMBOL(kbl_on_sched_waking);
