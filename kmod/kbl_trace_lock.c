// SPDX-License-Identifier: GPL-2.0-only
/*
 * Waits for locks.  The kernel reports a lock only if a thread has to wait for it.  For a wait
 * it reports one or more begins (the thread first spins, then sleeps) and one end.
 */
#include <linux/stacktrace.h>
#include <trace/events/lock.h>

#include "kbl_events.h"

#define KBL_LOCK_BITS 56	/* low bits of an address; the higher bits are always equal */
#define KBL_LOCK_SLOTS 2	/* EXT slots of the stack */
#define KBL_LOCK_CALLERS (KBL_LOCK_SLOTS * 6)

static_assert(KBL_LOCK_SPIN == LCB_F_SPIN && KBL_LOCK_READ == LCB_F_READ &&
	      KBL_LOCK_WRITE == LCB_F_WRITE && KBL_LOCK_RT == LCB_F_RT &&
	      KBL_LOCK_PERCPU == LCB_F_PERCPU && KBL_LOCK_MUTEX == LCB_F_MUTEX);

static DEFINE_PER_CPU(unsigned long[KBL_LOCK_CALLERS], kbl_lock_stacks);

static u64 kbl_lock_data(const void *lock, u8 more)
{
	return ((unsigned long)lock & GENMASK_ULL(KBL_LOCK_BITS - 1, 0)) |
	       (u64)more << KBL_LOCK_BITS;
}
NOKPROBE_SYMBOL(kbl_lock_data);

/* Append the callers to the last record as EXT slots.  Returns the number of slots. */
static unsigned int kbl_lock_callers(struct kbl_cpu *c)
{
	unsigned long *caller = *this_cpu_ptr(&kbl_lock_stacks);
	unsigned int i, n = stack_trace_save(caller, KBL_LOCK_CALLERS, 2), slots = 0;
	struct kbl_ext_stack *ext = NULL;

	for (i = 0; i < n; i++) {
		if (i % ARRAY_SIZE(ext->stack) == 0) {
			ext = &kbl_ext(c, KBL_EXT_STACK)->stack;
			ext->depth = n;
			slots++;
		}
		ext->stack[i % ARRAY_SIZE(ext->stack)] = kbl_offset(caller[i]);
	}
	return slots;
}
NOKPROBE_SYMBOL(kbl_lock_callers);

void kbl_on_contention_begin(void *data, void *lock, unsigned int flags)
{
	struct kbl_event_slot *event;
	struct kbl_cpu *c;

	c = kbl_event_open();
	if (!c)
		return;
	event = kbl_event(c, KBL_EV_LOCK_WAIT, 0, kbl_lock_data(lock, flags));
	event->ext = kbl_lock_callers(c);
	kbl_batch_close(c);
}
NOKPROBE_SYMBOL(kbl_on_contention_begin);

/* An error means that the thread did not get the lock: a signal ended its wait. */
void kbl_on_contention_end(void *data, void *lock, int ret)
{
	kbl_event_alone(KBL_EV_LOCK_GOT, 0, kbl_lock_data(lock, ret != 0));
}
NOKPROBE_SYMBOL(kbl_on_contention_end);
