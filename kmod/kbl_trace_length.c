// SPDX-License-Identifier: GPL-2.0-only
/* Lengths of queueing disciplines, and of each CPU's backlog queue. */
#include <linux/netdevice.h>
#include <net/sch_generic.h>

#include "kbl_events.h"

static __always_inline void kbl_length(struct kbl_cpu *c, u32 packets, u32 bytes,
				       const struct net_device *dev, u32 handle)
{
	struct kbl_event_slot *event = kbl_event(c, KBL_EV_QUEUE_LENGTH, 0,
						 packets | (u64)bytes << 32);
	struct kbl_ext_addr *ext = &kbl_ext(c, KBL_EXT_ADDR)->addr;

	event->ext = 1;
	ext->flags = handle;
	if (dev)
		kbl_dev_find(dev, &ext->ifindex, &ext->netns);
}

/* Called while the batch of the event that changed the length is being collected. */
void kbl_length_emit(struct kbl_cpu *c, const struct Qdisc *qdisc, const struct netdev_queue *txq)
{
	u32 bytes = qdisc->qstats.backlog;
	int cpu;

	if (qdisc_is_percpu_stats(qdisc))
		for_each_possible_cpu(cpu)
			bytes += per_cpu_ptr(qdisc->cpu_qstats, cpu)->backlog;
	kbl_length(c, qdisc_qlen_sum(qdisc), bytes, txq->dev, qdisc->handle);
}
NOKPROBE_SYMBOL(kbl_length_emit);

void kbl_length_alone(const struct Qdisc *qdisc, const struct netdev_queue *txq)
{
	struct kbl_cpu *c;

	c = kbl_event_open();
	if (!c)
		return;
	kbl_length_emit(c, qdisc, txq);
	kbl_batch_close(c);
}
NOKPROBE_SYMBOL(kbl_length_alone);

/* Before the skb is added.  With receive packet steering it may go to another CPU's queue. */
void kbl_on_netif_rx(void *data, struct sk_buff *skb)
{
	const struct softnet_data *sd = this_cpu_ptr(&softnet_data);
	u64 addr = (unsigned long)skb;
	struct kbl_cpu *c;

	c = kbl_event_open();
	if (!c)
		return;
	if (!static_branch_unlikely(&kbl_filter_on) || kbl_filter_pass(c, addr, NULL, 0))
		kbl_length(c, skb_queue_len_lockless(&sd->input_pkt_queue) +
			   skb_queue_len_lockless(&sd->process_queue), 0, NULL, 0);
	kbl_batch_close(c);
}
NOKPROBE_SYMBOL(kbl_on_netif_rx);
