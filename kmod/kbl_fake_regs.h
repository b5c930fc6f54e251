/* SPDX-License-Identifier: GPL-2.0-only */
/* A call of a function with probes in its source, as its registers would show it. */
#ifndef KBL_FAKE_REGS_H
#define KBL_FAKE_REGS_H

#include "kbl_internal.h"

#define KBL_STACK_WORDS 12	/* the return address and the arguments on the stack */

struct kbl_fake_regs {
	struct pt_regs regs;
	unsigned long stack[KBL_STACK_WORDS];
	unsigned long unused;
};

/* Where the argument @arg lies. */
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
