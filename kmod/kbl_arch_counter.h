/* SPDX-License-Identifier: GPL-2.0-only */
/* Read a counter that runs on this CPU, without sleeping and without a lock. */
#ifndef KBL_ARCH_COUNTER_H
#define KBL_ARCH_COUNTER_H

#include <linux/perf_event.h>

/*
 * For any architecture: the PMU's driver updates the sum.  Interrupts are off and the event is
 * on this CPU, which is all that a driver requires.
 */
static __always_inline u64 kbl_count_by_pmu(struct perf_event *event)
{
	event->pmu->read(event);
	return local64_read(&event->count);
}

#ifdef CONFIG_X86_64
#include <asm/perf_event.h>

#define KBL_COUNT_TRIES 4

/* How far the register has counted since the last update of the sum, in its own width. */
static __always_inline u64 kbl_rdpmc_since(u32 counter, u64 since, u32 shift)
{
	u32 low, high;
	s64 delta;

	asm volatile("rdpmc" : "=a" (low), "=d" (high) : "c" (counter));
	delta = ((u64)high << 32 | low) << shift;
	delta -= since << shift;
	return delta >> shift;
}

/* An overflow is an NMI and changes both numbers: then read again. */
static __always_inline u64 kbl_arch_count(struct perf_event *event, u32 shift)
{
	struct hw_perf_event *hw = &event->hw;
	u64 sum, since, count;
	int i;

	if (!shift)
		return kbl_count_by_pmu(event);
	for (i = 0; i < KBL_COUNT_TRIES; i++) {
		since = local64_read(&hw->prev_count);
		sum = local64_read(&event->count);
		if (READ_ONCE(hw->idx) < 0)
			return 0;
		count = sum + kbl_rdpmc_since(READ_ONCE(hw->event_base_rdpmc), since, shift);
		barrier();
		if (likely(since == local64_read(&hw->prev_count) &&
			   sum == local64_read(&event->count)))
			return count;
	}
	return 0;
}

/* 64 minus the width of the event's register; 0: RDPMC cannot read it. */
static inline u32 kbl_arch_count_shift(const struct perf_event *event)
{
	struct x86_pmu_capability cap;
	u32 width;

	if (event->attr.type != PERF_TYPE_HARDWARE && event->attr.type != PERF_TYPE_RAW)
		return 0;
	perf_get_x86_pmu_capability(&cap);
	/* Bit 30 selects the fixed counters. */
	width = event->hw.event_base_rdpmc & BIT(30) ? cap.bit_width_fixed : cap.bit_width_gp;
	return width && width < 64 ? 64 - width : 0;
}

#else

static __always_inline u64 kbl_arch_count(struct perf_event *event, u32 shift)
{
	return kbl_count_by_pmu(event);
}

static inline u32 kbl_arch_count_shift(const struct perf_event *event)
{
	return 0;
}

#endif
#endif /* KBL_ARCH_COUNTER_H */
