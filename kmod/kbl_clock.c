// SPDX-License-Identifier: GPL-2.0-only
/*
 * The clock of the records is CLOCK_MONOTONIC by ktime_get_mono_fast_ns().  To
 * ask it costs as much as a quarter of a record; so, where it counts the CPU's
 * own cycles, it is asked every KBL_CLOCK_SPAN_NS only and the cycles since are
 * added.  They run at the rate of boot time, which NTP may bend by some parts in
 * a million: that makes some nanoseconds in that span.
 */
#include <linux/ktime.h>
#include <linux/math64.h>
#include <linux/timekeeping.h>

#include "kbl_hot.h"

#define KBL_CLOCK_SPAN_NS 200000
#define KBL_CLOCK_ASKING_NS 4000
#define KBL_CLOCK_TRIES 5

#ifdef KBL_ARCH_CYCLES

/* There is no asking which counter the kernel's clock reads; but it shows what it read. */
static bool kbl_clock_is_ours(void)
{
	struct system_time_snapshot shot;
	unsigned int i;
	u64 before;

	for (i = 0; i < KBL_CLOCK_TRIES; i++) {
		before = kbl_cycles();
		ktime_get_snapshot(&shot);
		if (shot.cycles < before || shot.cycles > kbl_cycles())
			return false;
	}
	return kbl_cycles_khz();
}

static u64 kbl_clock_cycles(void)
{
	return kbl_cycles();
}

static u64 kbl_clock_khz(void)
{
	return kbl_clock_is_ours() ? kbl_cycles_khz() : 0;
}

#else

static u64 kbl_clock_cycles(void)
{
	return 0;
}

static u64 kbl_clock_khz(void)
{
	return 0;
}

#endif
NOKPROBE_SYMBOL(kbl_clock_cycles);

static u64 kbl_clock_ns(const struct kbl_cpu *c, u64 cycles)
{
	return kbl_scale(cycles, c->clock_mult);
}
NOKPROBE_SYMBOL(kbl_clock_ns);

/* Before anything records. */
void kbl_cycles_start(void)
{
	u64 khz = kbl_clock_khz();
	int cpu;

	for_each_possible_cpu(cpu) {
		struct kbl_cpu *c = per_cpu(kbl_cpu, cpu);

		c->clock_until = 0;
		c->clock_span = khz ? KBL_CLOCK_SPAN_NS : 0;
		if (khz)
			c->clock_mult = div64_u64((u64)NSEC_PER_MSEC << KBL_CLOCK_SHIFT, khz);
	}
}

/*
 * Ask the kernel's clock; the cycles of that moment lie in the middle of the asking.
 * If that took long, as where a hypervisor or an NMI had the CPU meanwhile, the middle
 * may be far off: then it is asked again for the next record.
 * Returns an instant after c->now.  The name of the thread is looked at as often, so
 * that one that renamed itself is told anew before long.
 */
u64 kbl_clock_read(struct kbl_cpu *c)
{
	u64 before = kbl_clock_cycles();
	u64 now = ktime_get_mono_fast_ns();
	u64 took = kbl_clock_cycles() - before;
	bool sure = kbl_clock_ns(c, took) <= KBL_CLOCK_ASKING_NS;

	if (unlikely(!kbl_task_same(c)))
		c->last_who.pid = U32_MAX;
	c->clock_base = now - kbl_clock_ns(c, before + took / 2);
	c->clock_until = c->clock_span && sure ? now + c->clock_span : 0;
	return max(now, c->now + 1);
}
NOKPROBE_SYMBOL(kbl_clock_read);
