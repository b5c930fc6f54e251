/* SPDX-License-Identifier: GPL-2.0-only */
/* Who freed an skb, and in which netfilter hook. */
#ifndef KBL_STACK_H
#define KBL_STACK_H

#include "kbl_record.h"

#define KBL_STACK_SLOTS 4	/* EXT slots of a drop's stack */
#define KBL_STACK_MAX (KBL_STACK_SLOTS * 6)

/* The return addresses of a drop, from the function that freed the skb. */
struct kbl_stack {
	unsigned long entry[KBL_STACK_MAX];
	unsigned int n;
	unsigned int from;
	unsigned long location;
	u16 hook;		/* as struct kbl_ext_drop.hook */
};

void kbl_stack_start(void);
void kbl_stack_read(struct kbl_stack *s, u64 skb, unsigned long location);
unsigned int kbl_stack_emit(struct kbl_cpu *c, const struct kbl_stack *s);
unsigned long kbl_stack_real(unsigned long addr);
unsigned long kbl_stack_above(const unsigned long *slot);

#endif /* KBL_STACK_H */
