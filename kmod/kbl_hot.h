/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What every call of a probed function runs through; each instruction here is
 * paid twice a call.  All inline, so nothing of it can be probed.
 */
#ifndef KBL_HOT_H
#define KBL_HOT_H

#include <linux/hardirq.h>
#include <linux/hash.h>
#include <linux/sched.h>
#include <linux/timekeeping.h>
#ifdef CONFIG_RETHOOK
#include <linux/rethook.h>
#endif

#include "kbl_arch.h"
#include "kbl_internal.h"

/* The next instant: the fast clock may step back a little when timekeeping updates. */
static __always_inline u64 kbl_instant(struct kbl_cpu *c)
{
	u64 now = ktime_get_mono_fast_ns();

	if (unlikely(now <= c->now))
		now = c->now + 1;
	c->now = now;
	return now;
}

/* @trap: we stand in a breakpoint's handler, which looks like an NMI. */
static __always_inline u8 kbl_context(bool trap)
{
	unsigned long count = preempt_count();

	if (unlikely(trap) && count & NMI_MASK)
		count -= NMI_OFFSET + HARDIRQ_OFFSET;
	if (likely(!(count & (NMI_MASK | HARDIRQ_MASK))))
		return softirq_count() & SOFTIRQ_OFFSET ? KBL_CTX_SOFTIRQ : KBL_CTX_TASK;
	return count & NMI_MASK ? KBL_CTX_NMI : KBL_CTX_HARDIRQ;
}

/*
 * The return address as an offset from _stext.  After a tail call the stack
 * holds a return hook of the function that jumped: the hooks of one frame
 * stack up, and the oldest of them knows the real address.
 */
static __always_inline s32 kbl_caller(const struct pt_regs *regs, u8 *flags)
{
	unsigned long addr = kbl_return_address(regs);
	s64 offset;
#ifdef CONFIG_RETHOOK
	struct llist_node *n;

	for (n = current->rethooks.first; n; n = n->next) {
		struct rethook_node *node = container_of(n, struct rethook_node, llist);

		if (likely(node->frame != kbl_frame(regs)))
			break;
		addr = node->ret_addr;
		*flags |= KBL_FLAG_TAIL_CALL;
	}
#endif
	offset = addr - kbl_stext;
	if (likely(offset == (s32)offset))
		return offset;
	*flags |= KBL_FLAG_NO_CALLER;
	return 0;
}

/* Was the thread that runs here the last one told? */
static __always_inline bool kbl_task_told(const struct kbl_cpu *c)
{
	const struct task_struct *p = current;
	const u64 *comm = (const u64 *)p->comm;

	return c->task_pid == p->pid && c->task_comm[0] == comm[0] && c->task_comm[1] == comm[1];
}

static __always_inline struct kbl_known *kbl_known_slot(struct kbl_cpu *c, u64 addr)
{
	return &c->known[((u32)(addr >> 5) * GOLDEN_RATIO_32) >> (32 - KBL_KNOWN_BITS)];
}

/* Does the skb still hold what this CPU told of it? */
static __always_inline bool kbl_skb_told(struct kbl_cpu *c, u64 addr)
{
	const struct kbl_known *k = kbl_known_slot(c, addr);
	const struct sk_buff *skb = (const struct sk_buff *)(unsigned long)addr;
	const u64 *l3, *l4;

	if (unlikely(k->watched != addr))
		return false;
	if (!kbl_same64(&skb->dev, k->dev) || !kbl_same64(&skb->sk, k->sk) ||
	    !kbl_same64(&skb->head, k->head) || !kbl_same32(&skb->len, k->len) ||
	    !kbl_same32(&skb->mark, k->mark) || !kbl_same16(&skb->protocol, k->protocol) ||
	    !kbl_same16(&skb->network_header, k->network) || !kbl_same32(k->gso, k->gso_word))
		return false;
	l3 = k->l3;
	l4 = k->l4;
	if (!kbl_same64(l3, k->l3_word[0]) || !kbl_same64(l3 + 1, k->l3_word[1]) ||
	    !kbl_same32(l3 + 2, k->l3_word[2]) ||
	    !kbl_same64(l4, k->l4_word[0]) || !kbl_same64(l4 + 1, k->l4_word[1]))
		return false;
	if (likely(!k->watch))
		return true;
	if (k->watch & KBL_WATCH_DATA && !kbl_same64(&skb->data, k->data))
		return false;
	return !(k->watch & KBL_WATCH_IPV6) || (kbl_same64(l3 + 2, k->l3_word[2]) &&
		kbl_same64(l3 + 3, k->l3_word[3]) && kbl_same64(l3 + 4, k->l3_word[4]));
}

/* Room for whole slots in the current sub-buffer, or NULL. */
static __always_inline union kbl_slot *kbl_room(const struct kbl_cpu *c, unsigned int slots)
{
	struct rchan_buf *buf = c->buf;

	if (unlikely(!buf || buf->offset + slots * KBL_SLOT_SIZE > buf->chan->subbuf_size))
		return NULL;
	return buf->data + buf->offset;
}

/* The slots are filled: let the reader see them, the data before the offset. */
static __always_inline void kbl_put(struct kbl_cpu *c, unsigned int slots)
{
	struct rchan_buf *buf = c->buf;

	/* Pairs with the reader in relay_file_read(). */
	smp_wmb();
	WRITE_ONCE(buf->offset, buf->offset + slots * KBL_SLOT_SIZE);
	c->bytes += slots * KBL_SLOT_SIZE;
}

#endif /* KBL_HOT_H */
