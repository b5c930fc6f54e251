/* SPDX-License-Identifier: GPL-2.0-only */
/* Declarations for the event sources: tracepoints, system calls, notifiers, stacks. */
#ifndef KBL_EVENTS_H
#define KBL_EVENTS_H

#include <linux/interrupt.h>
#include <linux/netdevice.h>
#include <linux/version.h>
#include <net/neighbour.h>
#include <net/sch_generic.h>

#include "kbl_known.h"
#include "kbl_record.h"

#define KBL_NAME_SLOTS 4	/* EXT_COMM slots of a name; module names are long */

/* Event groups, which are switched on and off individually. */
enum kbl_group {
	KBL_GROUP_NET,
	KBL_GROUP_QDISC,
	KBL_GROUP_SOCK,
	KBL_GROUP_COPY,
	KBL_GROUP_DROP,
	KBL_GROUP_SYSCALL,
	KBL_GROUP_IRQ,
	KBL_GROUP_SOFTIRQ,
	KBL_GROUP_TABLE,
	KBL_GROUP_SCHED,
	KBL_GROUP_LOCK,
	KBL_GROUP_FAULT,
	KBL_GROUP_QUEUE,
	KBL_GROUP_SYSCALLS,
	KBL_NR_GROUPS
};

/* kbl_notify.c, kbl_route.c: changes of the kernel's tables */
int kbl_notify_start(void);
void kbl_notify_stop(void);
int kbl_route_start(void);
void kbl_route_stop(void);

/* kbl_syscall.c, kbl_trace_irq.c: forget what an earlier recording knew */
void kbl_syscall_start(void);
void kbl_syscall_choose(bool sockets, bool all);
void kbl_syscall_show(struct seq_file *m);
void kbl_irq_start(void);
void kbl_irq_forget(void);

/* Lengths of queues are recorded beside the events of the group qdisc. */
static __always_inline bool kbl_lengths_on(void)
{
	return unlikely(READ_ONCE(kbl_probe_events) & BIT_ULL(KBL_EV_QUEUE_LENGTH));
}

/* kbl_trace_length.c */
void kbl_length_emit(struct kbl_cpu *c, const struct Qdisc *qdisc, const struct netdev_queue *txq);
void kbl_length_alone(const struct Qdisc *qdisc, const struct netdev_queue *txq);

/*
 * Write one slot without a batch.  False if other records must precede it.  @irq: result of
 * kbl_irq_off().
 */
static __always_inline bool kbl_event_quick(struct kbl_cpu *c, unsigned long irq, u8 event,
					    u64 skb, u64 data)
{
	union kbl_slot *slot;

	if (unlikely(kbl_is_busy(c)))
		return false;
	/* From here on, an NMI writes no record, so the thread and the next slot stay the same. */
	kbl_busy(c, irq);
	slot = NULL;
	if (likely(!c->slow) && likely(kbl_task_same(c)) && likely(data_race(kbl_active)))
		slot = kbl_room(c, 1);
	if (likely(slot)) {
		kbl_event_fill(slot, kbl_instant(c), event, 0, skb, data);
		kbl_put(c, slot + 1);
		c->written++;
	}
	kbl_busy(c, 0);
	return slot;
}

/* Append a name to the last head; returns the number of slots. */
static inline unsigned int kbl_name_ext(struct kbl_cpu *c, const char *name)
{
	unsigned int slots = 0;
	size_t len = strlen(name), at = 0;

	do {
		struct kbl_ext_comm *ext = &kbl_ext(c, KBL_EXT_COMM)->comm;
		size_t part = min(len - at, sizeof(ext->comm) - 1);

		memcpy(ext->comm, name + at, part);
		at += part;
		slots++;
	} while (at < len && slots < KBL_NAME_SLOTS);
	return slots;
}

/* Record an event that needs neither EXT slots nor a footprint. */
static __always_inline void kbl_event_alone(u8 event, u64 skb, u64 data)
{
	unsigned long irq = kbl_irq_off(true);
	bool recorded = kbl_event_quick(__this_cpu_read(kbl_cpu), irq, event, skb, data);

	kbl_irq_back(irq, true);
	if (unlikely(!recorded))
		kbl_event_alone_slow(event, skb, data);
}

/* One handler for each tracepoint.  The kernel's prototypes differ by version. */
void kbl_on_netif_receive_skb(void *data, struct sk_buff *skb);
void kbl_on_net_dev_queue(void *data, struct sk_buff *skb);
void kbl_on_net_dev_start_xmit(void *data, const struct sk_buff *skb,
			       const struct net_device *dev);
void kbl_on_net_dev_xmit(void *data, struct sk_buff *skb, int rc, struct net_device *dev,
			 unsigned int len);
void kbl_on_napi_poll(void *data, struct napi_struct *napi, int work, int budget);
void kbl_on_qdisc_enqueue(void *data, struct Qdisc *qdisc, const struct netdev_queue *txq,
			  struct sk_buff *skb);
void kbl_on_qdisc_dequeue(void *data, struct Qdisc *qdisc, const struct netdev_queue *txq,
			  int packets, struct sk_buff *skb);
void kbl_on_skb_copy_datagram_iovec(void *data, const struct sk_buff *skb, int len);
#if LINUX_VERSION_CODE >= KERNEL_VERSION(6, 11, 0)
void kbl_on_kfree_skb(void *data, struct sk_buff *skb, void *location,
		      enum skb_drop_reason reason, struct sock *rx_sk);
#else
void kbl_on_kfree_skb(void *data, struct sk_buff *skb, void *location,
		      enum skb_drop_reason reason);
#endif
#if LINUX_VERSION_CODE >= KERNEL_VERSION(6, 3, 0)
void kbl_on_consume_skb(void *data, struct sk_buff *skb, void *location);
#else
void kbl_on_consume_skb(void *data, struct sk_buff *skb);
#endif
void kbl_on_irq_handler_entry(void *data, int irq, struct irqaction *action);
void kbl_on_irq_handler_exit(void *data, int irq, struct irqaction *action, int ret);
void kbl_on_softirq_entry(void *data, unsigned int vec);
void kbl_on_softirq_exit(void *data, unsigned int vec);
void kbl_on_sys_enter(void *data, struct pt_regs *regs, long id);
void kbl_on_sys_exit(void *data, struct pt_regs *regs, long ret);
void kbl_on_neigh_create(void *data, struct neigh_table *table, struct net_device *dev,
			 const void *key, const struct neighbour *neigh, bool exempt_from_gc);
void kbl_on_sched_switch(void *data, bool preempt, struct task_struct *prev,
			 struct task_struct *next, unsigned int prev_state);
void kbl_on_sched_waking(void *data, struct task_struct *p);
void kbl_on_contention_begin(void *data, void *lock, unsigned int flags);
void kbl_on_contention_end(void *data, void *lock, int ret);
#ifdef CONFIG_X86
void kbl_on_page_fault_user(void *data, unsigned long address, struct pt_regs *regs,
			    unsigned long error_code);
void kbl_on_page_fault_kernel(void *data, unsigned long address, struct pt_regs *regs,
			      unsigned long error_code);
#endif
void kbl_on_netif_rx(void *data, struct sk_buff *skb);

#endif /* KBL_EVENTS_H */
