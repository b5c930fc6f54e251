// SPDX-License-Identifier: GPL-2.0-only
/* Births and clones: what functions return. */
#include <linux/kprobes.h>
#include <linux/seq_file.h>

#include "witness.h"

static int witness_asked(struct kretprobe_instance *ri, struct pt_regs *regs)
{
	*(unsigned long *)ri->data = regs_get_kernel_argument(regs, 0);
	return 0;
}

static int witness_born(struct kretprobe_instance *ri, struct pt_regs *regs)
{
	struct kretprobe *rp = get_kretprobe(ri);

	if (rp)
		witness_row(BORN, rp->kp.symbol_name, (void *)regs_return_value(regs));
	return 0;
}

static int witness_cloned(struct kretprobe_instance *ri, struct pt_regs *regs)
{
	struct kretprobe *rp = get_kretprobe(ri);
	struct witness_row *row = NULL;

	if (rp)
		row = witness_row(CLONED, rp->kp.symbol_name, (void *)regs_return_value(regs));
	if (row)
		row->other = *(void **)ri->data;
	return 0;
}

#define WITNESS_RETURN(name, what) { .kp.symbol_name = name, .handler = what,		\
	.entry_handler = witness_asked, .data_size = sizeof(long), .maxactive = 64 }

static struct kretprobe witness_returns[] = {
	WITNESS_RETURN("__alloc_skb", witness_born),
	WITNESS_RETURN("build_skb", witness_born),
	WITNESS_RETURN("napi_build_skb", witness_born),
	WITNESS_RETURN("skb_clone", witness_cloned),
};

void witness_birth_begin(void)
{
	int i;

	for (i = 0; i < ARRAY_SIZE(witness_returns); i++)
		if (register_kretprobe(&witness_returns[i]))
			witness_returns[i].kp.addr = NULL;
}

void witness_birth_end(void)
{
	int i;

	for (i = 0; i < ARRAY_SIZE(witness_returns); i++)
		if (witness_returns[i].kp.addr)
			unregister_kretprobe(&witness_returns[i]);
}

void witness_birth_show(struct seq_file *m)
{
	int i;

	for (i = 0; i < ARRAY_SIZE(witness_returns); i++)
		seq_printf(m, "missed %s %d %lu\n", witness_returns[i].kp.symbol_name,
			   !!witness_returns[i].kp.addr,
			   witness_returns[i].nmissed + witness_returns[i].kp.nmissed);
}
