/* SPDX-License-Identifier: GPL-2.0-only */
/* A fake struct pt_regs for a call of a function with probes in its source. */
#ifndef KBL_FAKE_REGS_H
#define KBL_FAKE_REGS_H

#include "kbl_internal.h"

#define KBL_STACK_WORDS 12	/* return address and stack arguments */

struct kbl_fake_regs {
	struct pt_regs regs;
	unsigned long stack[KBL_STACK_WORDS];
	unsigned long unused;
};

/* Offset of the argument @arg in struct kbl_fake_regs. */
static u16 kbl_fake_offset(unsigned int arg)
{
	if (arg < KBL_REG_ARGS)
		return kbl_arg_offset(arg);
	return offsetof(struct kbl_fake_regs, stack) +
	       kbl_arch_stack_offset(arg - KBL_REG_ARGS);
}

static __always_inline void kbl_fake(struct kbl_fake_regs *f, unsigned int offset,
				     const void *value)
{
	*(unsigned long *)((u8 *)f + offset) = (unsigned long)value;
}

#endif /* KBL_FAKE_REGS_H */
