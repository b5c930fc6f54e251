// SPDX-License-Identifier: GPL-2.0-only
/*
 * Records have times of CLOCK_MONOTONIC, by ktime_get_mono_fast_ns().  Reading that clock costs
 * as much as a quarter of a record.  If the clock counts the CPU's own cycles, it is read only
 * once every KBL_CLOCK_SPAN_NS; in between, the cycles that have passed are added.  They are
 * converted at the rate of boot time.  NTP may change the rate by some parts in a million, which
 * is an error of some nanoseconds in such a span.
 */
#include <linux/ktime.h>
#include <linux/math64.h>
#include <linux/timekeeping.h>

#include "kbl_record.h"

#define KBL_CLOCK_SPAN_NS 200000
#define KBL_CLOCK_ASKING_NS 4000
#define KBL_CLOCK_TRIES 5

#ifdef KBL_ARCH_CYCLES

/*
 * The kernel does not say which counter its clock reads, but a snapshot of the clock contains
 * the value of that counter.
 */
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

/* Called before a recording. */
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
 * Read the kernel's clock.  The cycles of that time are taken from the middle of the read. If
 * the read took long, because a hypervisor or an NMI had the CPU, the middle may be far off:
 * then the next record reads the clock again.
 *
 * Returns a time after c->now.  The thread's name is checked at each read, so that a renamed
 * thread soon gets a new TASK record.
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
