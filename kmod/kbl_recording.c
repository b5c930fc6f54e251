// SPDX-License-Identifier: GPL-2.0-only
/* Start, stop and clear a recording.  All functions are called under kbl_lock. */
#include "kbl_internal.h"
#include "kbl_whole.h"

/*
 * Arm and register first, so that all functions and events start to record at the same time.  Each
 * step waits for all CPUs, and can take seconds in a busy virtual machine.
 */
int kbl_activate(void)
{
	int armed, err;

	if (kbl_active)
		return -EBUSY;
	if (!kbl_stext) {
		pr_warn("kbl: activate: write 'stext 0xADDR' to debugfs/kbl/control first\n");
		return -EINVAL;
	}
	err = kbl_whole_start();
	if (err)
		return err;
	kbl_calls_reset();
	kbl_relay_start();
	kbl_batch_start();
	kbl_cycles_start();
	armed = kbl_targets_arm();
	err = kbl_trace_start();
	if (err) {
		kbl_targets_disarm();
		return err;
	}
	WRITE_ONCE(kbl_active, true);
	pr_info("kbl: recording, %d functions armed\n", armed);
	return 0;
}

void kbl_deactivate(void)
{
	if (!kbl_active)
		return;
	WRITE_ONCE(kbl_active, false);
	kbl_targets_disarm();
	kbl_trace_stop();
	kbl_calls_close();
	kbl_batch_stop();
	pr_info("kbl: stopped\n");
}

int kbl_clear(void)
{
	if (kbl_active)
		return -EBUSY;
	kbl_targets_free();
	kbl_relay_clear();
	return 0;
}

/* The sum over all CPUs of the u64 at @offset in struct kbl_cpu. */
u64 kbl_total(size_t offset)
{
	u64 sum = 0;
	int cpu;

	for_each_possible_cpu(cpu) {
		const struct kbl_cpu *c = per_cpu(kbl_cpu, cpu);

		sum += *(const u64 *)((const u8 *)c + offset);
		if (offset == offsetof(struct kbl_cpu, bytes))
			sum += kbl_relay_last(c);
	}
	return sum;
}
