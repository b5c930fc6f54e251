/* SPDX-License-Identifier: GPL-2.0-only */
/* The open calls of functions with probes in their source.  A part of kbl_source.c. */
#ifndef KBL_OPEN_CALLS_H
#define KBL_OPEN_CALLS_H

#include <linux/bitmap.h>
#include <linux/hash.h>
#include <linux/log2.h>
#include <linux/mm.h>
#include <linux/slab.h>

#include "kbl_internal.h"

/*
 * The open calls, by frame and function.  At the exit a site passes the address of its frame,
 * and no other open call of the function has the same frame.  A task may return on another CPU,
 * so one table serves all CPUs.  Only the context that owns the frame claims and releases a
 * key.  A set is one cache line.
 */
#define KBL_OPEN_WAYS 4

struct kbl_open {
	u64 key;		/* 0: free */
	struct kbl_call *call;
};

static struct kbl_open (*kbl_opened)[KBL_OPEN_WAYS];	/* allocated while a function is armed */
static u32 kbl_open_mask;
static DECLARE_BITMAP(kbl_open_armed, KBL_MAX_PROBES);	/* ids of armed functions */

/*
 * Frames are multiples of 8, and the upper bits, which are lost here, are the same in all
 * kernel addresses.
 */
static __always_inline u64 kbl_open_key(const struct kbl_target *t, unsigned long frame)
{
	BUILD_BUG_ON(!is_power_of_2(KBL_MAX_PROBES));
	return (u64)(frame >> 3) * KBL_MAX_PROBES + t->id;
}

static __always_inline struct kbl_open *kbl_open_set(u64 key)
{
	return kbl_opened[(u32)(key * GOLDEN_RATIO_64 >> 32) & kbl_open_mask];
}

/* Returns NULL if no such call is open; with key 0, if the set is full. */
static __always_inline struct kbl_open *kbl_open_find(struct kbl_open *set, u64 key)
{
	unsigned int i;

	if (likely(READ_ONCE(set->key) == key))
		return set;
	for (i = 1; i < KBL_OPEN_WAYS; i++)
		if (READ_ONCE(set[i].key) == key)
			return &set[i];
	return NULL;
}

/* Other contexts may claim concurrently. */
static __always_inline struct kbl_open *kbl_open_claim(struct kbl_open *set, u64 key)
{
	struct kbl_open *found;

	do {
		found = kbl_open_find(set, 0);
	} while (found && unlikely(cmpxchg(&found->key, 0, key)));
	return found;
}

/*
 * Too many calls are open: the entry was recorded alone and counted as unpaired.  Nothing finds
 * the exit, so its event or EXT TAP is lost.
 */
static void kbl_open_unpaired(const struct kbl_target *t)
{
	unsigned long irq;

	if (!t->exit_event && !t->tap)
		return;
	local_irq_save(irq);
	kbl_lose(__this_cpu_read(kbl_cpu), 1);
	local_irq_restore(irq);
}
NOKPROBE_SYMBOL(kbl_open_unpaired);

/* The set is full, although the table is four times as large as all calls that can be open. */
static void kbl_open_lose(struct kbl_call *call)
{
	unsigned long irq;

	local_irq_save(irq);
	kbl_lose(__this_cpu_read(kbl_cpu), 1);
	kbl_call_give_back(call);
	local_irq_restore(irq);
}
NOKPROBE_SYMBOL(kbl_open_lose);

/* Forget the open calls of all functions that are not armed: their exits are not recorded. */
static void kbl_open_forget(void)
{
	struct kbl_open *open;

	for (open = kbl_opened[0]; open < kbl_opened[kbl_open_mask + 1]; open++) {
		u64 key = READ_ONCE(open->key);

		if (key && !test_bit(key & (KBL_MAX_PROBES - 1), kbl_open_armed))
			WRITE_ONCE(open->key, 0);
	}
}

/* Allocate four times as many entries as calls can be open. */
static int kbl_open_begin(void)
{
	unsigned int sets = 4 * num_possible_cpus() * KBL_NR_CALLS / KBL_OPEN_WAYS;

	sets = roundup_pow_of_two(sets);
	kbl_open_mask = sets - 1;
	kbl_opened = kvcalloc(sets, sizeof(*kbl_opened), GFP_KERNEL);
	return kbl_opened ? 0 : -ENOMEM;
}

static void kbl_open_end(void)
{
	kvfree(kbl_opened);
	kbl_opened = NULL;
}

#endif /* KBL_OPEN_CALLS_H */
