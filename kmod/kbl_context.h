/* SPDX-License-Identifier: GPL-2.0-only */
/* The context and the thread in which a record is written. */
#ifndef KBL_CONTEXT_H
#define KBL_CONTEXT_H

#include <linux/hardirq.h>
#include <linux/sched.h>

#include "kbl_internal.h"

/* On PREEMPT_RT, softirqs are counted by thread: see softirq_count() in linux/preempt.h. */
static __always_inline bool kbl_serving_softirq(unsigned int count)
{
#ifdef CONFIG_PREEMPT_RT
	count = current->softirq_disable_cnt;
#endif
	return count & SOFTIRQ_OFFSET;
}

/* @trap: the probe is in a breakpoint handler, which looks like an NMI. */
static __always_inline u8 kbl_context(bool trap)
{
	unsigned int count = preempt_count();

	if (trap && count & NMI_MASK)
		count -= NMI_OFFSET + HARDIRQ_OFFSET;
	if (likely(!(count & (NMI_MASK | HARDIRQ_MASK))))
		return kbl_serving_softirq(count) * KBL_CTX_SOFTIRQ;
	return count & NMI_MASK ? KBL_CTX_NMI : KBL_CTX_HARDIRQ;
}

/* Is current the thread of the last TASK record?  kbl_clock_read() checks its name. */
static __always_inline bool kbl_thread_same(const struct kbl_cpu *c)
{
	return c->last_who.pid == current->pid;
}

/* Is current the thread of the last TASK record, and does it still have that name? */
static __always_inline bool kbl_task_same(const struct kbl_cpu *c)
{
	const u64 *comm = (const u64 *)current->comm;

	return kbl_thread_same(c) && c->task_comm[0] == comm[0] && c->task_comm[1] == comm[1];
}

#endif /* KBL_CONTEXT_H */
