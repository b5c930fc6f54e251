// SPDX-License-Identifier: GPL-2.0-only
/* Tracepoints: drops, ends, and the ways through devices. */
#include <linux/seq_file.h>
#include <linux/tracepoint.h>

#include "witness.h"

static void witness_kfree(void *unused, struct sk_buff *skb, void *location, int reason)
{
	struct witness_row *row = witness_row(KFREE, "kfree_skb", skb);

	if (!row)
		return;
	row->other = location;
	row->number = reason;
}

static void witness_consume(void *unused, struct sk_buff *skb)
{
	witness_row(CONSUME, "consume_skb", skb);
}

/* The skb may be gone: only its address is taken. */
static void witness_xmit(void *unused, struct sk_buff *skb, int rc, struct net_device *dev)
{
	struct witness_row *row = witness_row(XMIT, "net_dev_xmit", skb);

	if (!row)
		return;
	row->head = row->data = NULL;
	row->len = row->paged = 0;
	row->number = rc;
	witness_device(row, dev);
}

static void witness_queue(void *unused, struct sk_buff *skb)
{
	witness_device(witness_row(QUEUE, "net_dev_queue", skb), skb->dev);
}

static void witness_receive(void *unused, struct sk_buff *skb)
{
	witness_device(witness_row(RECEIVE, "netif_receive_skb", skb), skb->dev);
}

static struct {
	const char *name;
	void *probe;
	struct tracepoint *tracepoint;
} witness_events[] = {
	{ "kfree_skb", witness_kfree }, { "consume_skb", witness_consume },
	{ "net_dev_xmit", witness_xmit }, { "net_dev_queue", witness_queue },
	{ "netif_receive_skb", witness_receive },
};

static void witness_find(struct tracepoint *tp, void *unused)
{
	int i;

	for (i = 0; i < ARRAY_SIZE(witness_events); i++)
		if (!strcmp(tp->name, witness_events[i].name))
			witness_events[i].tracepoint = tp;
}

void witness_event_begin(void)
{
	int i;

	for_each_kernel_tracepoint(witness_find, NULL);
	for (i = 0; i < ARRAY_SIZE(witness_events); i++)
		if (witness_events[i].tracepoint)
			tracepoint_probe_register(witness_events[i].tracepoint,
						  witness_events[i].probe, NULL);
}

void witness_event_end(void)
{
	int i;

	for (i = 0; i < ARRAY_SIZE(witness_events); i++)
		if (witness_events[i].tracepoint)
			tracepoint_probe_unregister(witness_events[i].tracepoint,
						    witness_events[i].probe, NULL);
	tracepoint_synchronize_unregister();
}
