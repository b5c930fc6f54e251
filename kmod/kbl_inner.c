// SPDX-License-Identifier: GPL-2.0-only
/*
 * The gate of functions without an skb (locks, routes, neighbours, memory): their calls are
 * recorded only inside a recorded call.
 *
 * The call around them must have been entered by the same thread in the same context.  A count of
 * open calls per CPU would not do: a thread that sleeps or is preempted inside a call leaves it
 * open on this CPU, and an interrupt runs on top of it.  The table of open calls knows thread and
 * context of each call, so the gate needs no state of its own, and packet functions pay nothing.
 *
 * A thread that changed its CPU inside a call is not found in the table of its new CPU: its calls
 * count as outside until that call returns.
 */
#include "kbl_hot.h"

/* Is it a recorded call of a packet function that has not returned? */
static __always_inline bool kbl_inner_gate(const struct kbl_cpu *c, const struct kbl_call *call)
{
	const struct kbl_target *t = READ_ONCE(call->target);

	/* A free entry has the next one in the place of its target. */
	if ((unsigned long)t - (unsigned long)c->calls < sizeof(c->calls) ||
	    (unsigned long)t <= (unsigned long)KBL_CALL_RETURNED)
		return false;
	return !t->inner && !t->quiet && call->span.kind != KBL_CALL_REFUSED;
}

/* Has the thread an open call in that context?  Entries that were never used are the last ones. */
bool kbl_inner_inside(struct kbl_cpu *c, u8 context)
{
	u32 pid = current->pid;
	struct kbl_call *call;

	for (call = c->calls; call < c->calls + KBL_NR_CALLS && call->span.ts; call++)
		if (call->who.pid == pid && call->span.context == context &&
		    kbl_inner_gate(c, call))
			return true;
	return false;
}
NOKPROBE_SYMBOL(kbl_inner_inside);
