// SPDX-License-Identifier: GPL-2.0-only
/*
 * The gate for functions without an skb (locks, routes, neighbours, memory): their calls are
 * recorded only inside a recorded call.
 *
 * The recorded call must have been entered by the same thread in the same context.  A count of
 * open calls on each CPU would not suffice.  A thread that sleeps or is preempted inside a call
 * leaves that call open on this CPU, and interrupts run on top of it.  The tables of open calls
 * contain the thread and context of each call.  So the gate needs no state of its own, and it
 * costs packet functions nothing.
 *
 * Most hits are outside of any recorded call.  If rethooks hook the returns of all packet
 * functions, a thread without a rethook has no open call, so no table is searched for it.  A
 * thread with a rethook may have moved to this CPU: then its open call is in the table of
 * another CPU.
 */
#include "kbl_hot.h"

bool kbl_inner_hooked __read_mostly;	/* all packet functions are armed by rethooks */

/* Is this row a recorded call of a packet function, and has the call not returned yet? */
static __always_inline bool kbl_inner_gate(const struct kbl_cpu *c, const struct kbl_call *call)
{
	/* Another CPU may take the entry now: then its thread is read after its target. */
	const struct kbl_target *t = smp_load_acquire(&call->target);

	/* A free entry has the next one in the place of its target. */
	if ((unsigned long)t - (unsigned long)c->calls < sizeof(c->calls) ||
	    (unsigned long)t <= (unsigned long)KBL_CALL_RETURNED)
		return false;
	return !t->inner && !t->quiet && call->span.kind != KBL_CALL_REFUSED;
}

/*
 * Has the thread an open call in that context in this table?  Entries that were never used are
 * the last ones.
 */
static bool kbl_inner_in(const struct kbl_cpu *c, u32 pid, u8 context)
{
	const struct kbl_call *call;

	for (call = c->calls; call < c->calls + KBL_NR_CALLS && call->span.ts; call++)
		if (READ_ONCE(call->who.pid) == pid && kbl_inner_gate(c, call) &&
		    READ_ONCE(call->who.pid) == pid && call->span.context == context)
			return true;
	return false;
}
NOKPROBE_SYMBOL(kbl_inner_in);

/* Has the thread an open call that it entered on another CPU? */
static noinline bool kbl_inner_elsewhere(const struct kbl_cpu *c, u32 pid)
{
	int cpu;

	for_each_possible_cpu(cpu)
		if (per_cpu(kbl_cpu, cpu) != c &&
		    kbl_inner_in(per_cpu(kbl_cpu, cpu), pid, KBL_CTX_TASK))
			return true;
	return false;
}
NOKPROBE_SYMBOL(kbl_inner_elsewhere);

static __always_inline bool kbl_inner_unhooked(void)
{
#ifdef CONFIG_RETHOOK
	return kbl_inner_hooked && !current->rethooks.first;
#else
	return false;
#endif
}

/* Has the thread an open call in that context?  Idle threads have no number of their own. */
bool kbl_inner_inside(struct kbl_cpu *c, u8 context)
{
	u32 pid = current->pid;

	if (kbl_inner_unhooked())
		return false;
	if (kbl_inner_in(c, pid, context))
		return true;
	return context == KBL_CTX_TASK && pid && kbl_inner_hooked && kbl_inner_elsewhere(c, pid);
}
NOKPROBE_SYMBOL(kbl_inner_inside);
