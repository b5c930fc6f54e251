// SPDX-License-Identifier: GPL-2.0-only
/*
 * Handlers of the network's tracepoints that have an skb.  They run wherever the kernel frees,
 * sends or receives packets, so they take no lock and allocate nothing.
 */
#include <linux/netdevice.h>
#include <linux/uaccess.h>

#include "kbl_events.h"
#include "kbl_stack.h"

#define KBL_XMIT_DEPTH 8	/* nested devices, on one CPU */

/* The skbs whose START_XMIT was recorded on this CPU: at XMIT the driver may have freed them. */
struct kbl_xmits {
	u64 skb[KBL_XMIT_DEPTH];
	unsigned int n;
};

static DEFINE_PER_CPU(struct kbl_xmits, kbl_xmits);
static DEFINE_PER_CPU(struct kbl_stack, kbl_stacks);

static noinline bool kbl_skb_filter(struct kbl_cpu *c, u64 skb, u64 sk)
{
	struct kbl_footprint fp;
	bool readable = !kbl_footprint_read(&fp, skb);

	if (!kbl_filter_pass(c, skb, readable ? &fp : NULL, sk))
		return false;
	if (readable)
		kbl_footprint_emit(c, skb, &fp);
	return true;
}
NOKPROBE_SYMBOL(kbl_skb_filter);

/* If the packet passes the filter, record its footprint. */
static __always_inline bool kbl_skb_pass(struct kbl_cpu *c, u64 skb, u64 sk)
{
	if (static_branch_unlikely(&kbl_filter_on))
		return kbl_skb_filter(c, skb, sk);
	kbl_skb_emit(c, skb);
	return true;
}

static noinline bool kbl_skb_event_slow(u8 event, u64 skb, u64 data)
{
	struct kbl_cpu *c = kbl_event_open();
	bool recorded;

	if (!c)
		return false;
	recorded = kbl_skb_pass(c, skb, 0);
	if (recorded)
		kbl_event(c, event, skb, data);
	kbl_batch_close(c);
	return recorded;
}
NOKPROBE_SYMBOL(kbl_skb_event_slow);

/* Record an event; on the fast path if its footprint need not be recorded. */
static __always_inline bool kbl_skb_event(u8 event, const struct sk_buff *skb, u64 data)
{
	u64 addr = (unsigned long)skb;
	struct kbl_cpu *c;
	unsigned long irq = kbl_irq_off(true);
	bool recorded;

	c = __this_cpu_read(kbl_cpu);
	recorded = !static_branch_unlikely(&kbl_filter_on) && kbl_skb_same(c, addr) &&
		kbl_event_quick(c, irq, event, addr, data);
	kbl_irq_back(irq, true);
	return likely(recorded) || kbl_skb_event_slow(event, addr, data);
}

void kbl_on_netif_receive_skb(void *data, struct sk_buff *skb)
{
	kbl_skb_event(KBL_EV_RECEIVE, skb, 0);
}
NOKPROBE_SYMBOL(kbl_on_netif_receive_skb);

void kbl_on_net_dev_queue(void *data, struct sk_buff *skb)
{
	kbl_skb_event(KBL_EV_QUEUE, skb, 0);
}
NOKPROBE_SYMBOL(kbl_on_net_dev_queue);

void kbl_on_net_dev_start_xmit(void *data, const struct sk_buff *skb,
			       const struct net_device *dev)
{
	struct kbl_xmits *xmits = this_cpu_ptr(&kbl_xmits);

	if (!kbl_skb_event(KBL_EV_START_XMIT, skb, 0))
		return;
	/* If it is full, forget all of them. */
	if (xmits->n >= KBL_XMIT_DEPTH)
		xmits->n = 0;
	xmits->skb[xmits->n++] = (unsigned long)skb;
}
NOKPROBE_SYMBOL(kbl_on_net_dev_start_xmit);

/* True if the start was recorded.  Entries above it on the stack never ended. */
static __always_inline bool kbl_xmit_known(u64 skb)
{
	struct kbl_xmits *xmits = this_cpu_ptr(&kbl_xmits);
	unsigned int i;

	for (i = xmits->n; i--; ) {
		if (xmits->skb[i] != skb)
			continue;
		xmits->n = i;
		return true;
	}
	return false;
}

/* The sender no longer owns the skb: only its address is recorded. */
void kbl_on_net_dev_xmit(void *data, struct sk_buff *skb, int rc, struct net_device *dev,
			 unsigned int len)
{
	if (kbl_xmit_known((unsigned long)skb))
		kbl_event_alone(KBL_EV_XMIT, (unsigned long)skb, (s64)rc);
}
NOKPROBE_SYMBOL(kbl_on_net_dev_xmit);

void kbl_on_napi_poll(void *data, struct napi_struct *napi, int work, int budget)
{
	struct kbl_event_slot *event;
	struct kbl_ext_addr *ext;
	struct kbl_cpu *c;

	c = kbl_event_open();
	if (!c)
		return;
	event = kbl_event(c, KBL_EV_NAPI_POLL, 0, (u32)work | (u64)budget << 32);
	event->ext = 1;
	ext = &kbl_ext(c, KBL_EXT_ADDR)->addr;
	kbl_dev_find(napi->dev, &ext->ifindex, &ext->netns);
	kbl_batch_close(c);
}
NOKPROBE_SYMBOL(kbl_on_napi_poll);

static __always_inline u64 kbl_qdisc_data(const struct Qdisc *qdisc,
					  const struct netdev_queue *txq)
{
	u32 ifindex = 0, netns;

	kbl_dev_find(txq->dev, &ifindex, &netns);
	return qdisc->handle | (u64)ifindex << 32;
}

static __always_inline void kbl_qdisc_enqueued(struct kbl_cpu *c, u64 skb,
					       const struct Qdisc *qdisc,
					       const struct netdev_queue *txq)
{
	kbl_event(c, KBL_EV_QDISC_ENQUEUE, skb, kbl_qdisc_data(qdisc, txq));
	if (kbl_lengths_on())
		kbl_length_emit(c, qdisc, txq);
}

/* Another CPU may already have sent the skb, or it may be segmented: it is not read. */
void kbl_on_qdisc_enqueue(void *data, struct Qdisc *qdisc, const struct netdev_queue *txq,
			  struct sk_buff *skb)
{
	u64 addr = (unsigned long)skb;
	struct kbl_cpu *c;

	c = kbl_event_open();
	if (!c)
		return;
	if (!static_branch_unlikely(&kbl_filter_on) || kbl_filter_pass(c, addr, NULL, 0))
		kbl_qdisc_enqueued(c, addr, qdisc, txq);
	kbl_batch_close(c);
}
NOKPROBE_SYMBOL(kbl_on_qdisc_enqueue);

/* A queue may return a list; without a packet there is nothing to record. */
void kbl_on_qdisc_dequeue(void *data, struct Qdisc *qdisc, const struct netdev_queue *txq,
			  int packets, struct sk_buff *skb)
{
	struct sk_buff *next = skb;
	bool recorded = false;
	unsigned int i;

	for (i = 0; i < KBL_MAX_CARRIED && !IS_ERR_OR_NULL(next); i++) {
		recorded |= kbl_skb_event(KBL_EV_QDISC_DEQUEUE, next,
					  kbl_qdisc_data(qdisc, txq));
		if (get_kernel_nofault(next, &next->next))
			break;
	}
	if (recorded && kbl_lengths_on())
		kbl_length_alone(qdisc, txq);
}
NOKPROBE_SYMBOL(kbl_on_qdisc_dequeue);

void kbl_on_skb_copy_datagram_iovec(void *data, const struct sk_buff *skb, int len)
{
	kbl_skb_event(KBL_EV_COPY_TO_USER, skb, len);
}
NOKPROBE_SYMBOL(kbl_on_skb_copy_datagram_iovec);

static __always_inline u64 kbl_free_data(unsigned long location, u32 reason)
{
	return (u64)(u32)kbl_offset(location) << 32 | reason;
}

static __always_inline void kbl_drop(struct sk_buff *skb, unsigned long location, u32 reason,
				     const struct sock *sk)
{
	u64 addr = (unsigned long)skb;
	struct kbl_event_slot *event;
	struct kbl_stack *stack;
	struct kbl_cpu *c;

	c = kbl_event_open();
	if (!c)
		return;
	if (kbl_skb_pass(c, addr, (unsigned long)sk)) {
		stack = this_cpu_ptr(&kbl_stacks);
		kbl_stack_read(stack, addr, location);
		event = kbl_event(c, KBL_EV_DROP, addr, kbl_free_data(stack->location, reason));
		event->ext = kbl_stack_emit(c, stack);
	}
	kbl_batch_close(c);
}

/* Until a tracepoint is known to be registered, probes record the events that both see. */
static __always_inline bool kbl_by_probe(u8 event)
{
	return unlikely(READ_ONCE(kbl_probe_events) & BIT_ULL(event));
}

#if LINUX_VERSION_CODE >= KERNEL_VERSION(6, 11, 0)
void kbl_on_kfree_skb(void *data, struct sk_buff *skb, void *location,
		      enum skb_drop_reason reason, struct sock *rx_sk)
{
	if (!kbl_by_probe(KBL_EV_DROP))
		kbl_drop(skb, (unsigned long)location, reason, rx_sk);
}
#else
void kbl_on_kfree_skb(void *data, struct sk_buff *skb, void *location,
		      enum skb_drop_reason reason)
{
	if (!kbl_by_probe(KBL_EV_DROP))
		kbl_drop(skb, (unsigned long)location, reason, NULL);
}
#endif
NOKPROBE_SYMBOL(kbl_on_kfree_skb);

#if LINUX_VERSION_CODE >= KERNEL_VERSION(6, 3, 0)
void kbl_on_consume_skb(void *data, struct sk_buff *skb, void *location)
{
	unsigned long addr = kbl_stack_real((unsigned long)location);

	if (!kbl_by_probe(KBL_EV_CONSUME))
		kbl_skb_event(KBL_EV_CONSUME, skb, kbl_free_data(addr, 0));
}
#else
void kbl_on_consume_skb(void *data, struct sk_buff *skb)
{
	unsigned long addr = kbl_stack_above((unsigned long *)__builtin_frame_address(0) + 1);

	if (!kbl_by_probe(KBL_EV_CONSUME))
		kbl_skb_event(KBL_EV_CONSUME, skb, kbl_free_data(addr, 0));
}
#endif
NOKPROBE_SYMBOL(kbl_on_consume_skb);
