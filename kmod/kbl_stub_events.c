// SPDX-License-Identifier: GPL-2.0-only
/* Stands in until kbl_trace.c and what hangs on it are built. */
#include "kbl_internal.h"

int kbl_trace_set(const char *words)
{
	return -EOPNOTSUPP;
}

void kbl_trace_show(struct seq_file *m)
{
}

int kbl_trace_start(void)
{
	return 0;
}

void kbl_trace_stop(void)
{
}

int kbl_notify_init(void)
{
	return 0;
}

void kbl_notify_exit(void)
{
}

unsigned int kbl_stack_ext(struct kbl_cpu *c)
{
	return 0;
}
NOKPROBE_SYMBOL(kbl_stack_ext);
