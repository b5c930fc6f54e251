// SPDX-License-Identifier: GPL-2.0-only
/* Stands in until kbl_filter.c is built. */
#include "kbl_internal.h"

DEFINE_STATIC_KEY_FALSE(kbl_filter_on);

bool kbl_filter_pass(struct kbl_cpu *c, u64 skb, const struct kbl_footprint *fp, u64 sk)
{
	return true;
}
NOKPROBE_SYMBOL(kbl_filter_pass);

void kbl_filter_life(u8 event, u64 parent, u64 child)
{
}
NOKPROBE_SYMBOL(kbl_filter_life);

int kbl_filter_set(const char *text)
{
	return -EOPNOTSUPP;
}

void kbl_filter_show(struct seq_file *m)
{
}
