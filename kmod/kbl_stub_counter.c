// SPDX-License-Identifier: GPL-2.0-only
/* Stands in until kbl_counter.c and kbl_calibrate.c are built. */
#include "kbl_internal.h"

DEFINE_STATIC_KEY_FALSE(kbl_counter_on);

u64 kbl_counter_read(void)
{
	return 0;
}
NOKPROBE_SYMBOL(kbl_counter_read);

u32 kbl_counter_event(void)
{
	return 0;
}
NOKPROBE_SYMBOL(kbl_counter_event);

int kbl_counter_set(const char *text)
{
	return -EOPNOTSUPP;
}

void kbl_counter_show(struct seq_file *m)
{
}

int kbl_calibrate(void)
{
	return -EOPNOTSUPP;
}

void kbl_calibration_show(struct seq_file *m)
{
}
