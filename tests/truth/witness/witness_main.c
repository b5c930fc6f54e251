// SPDX-License-Identifier: GPL-2.0-only
/*
 * A witness of what happens to each skb, for tests.  It shares no code with the module under test.
 * It is a module because fetch arguments of kprobe events read linear bytes only.
 * Loaded, it writes down; "0" in on ends that; trace shows it all, stats what was missed.
 */
#include <linux/debugfs.h>
#include <linux/module.h>
#include <linux/seq_file.h>
#include <linux/timekeeping.h>
#include <linux/vmalloc.h>

#include "witness.h"

static uint rows = 200000;
module_param(rows, uint, 0400);

static struct witness_row *witness_rows;
static atomic_t witness_next;
static atomic_t witness_hits[KINDS];
static bool witness_on;
static struct dentry *witness_folder;

struct witness_row *witness_row(enum witness_kind kind, const char *symbol,
				const struct sk_buff *skb)
{
	struct witness_row *row;
	uint at;

	if (!READ_ONCE(witness_on) || !skb)
		return NULL;
	atomic_inc(&witness_hits[kind]);
	at = atomic_fetch_inc(&witness_next);
	if (at >= rows)
		return NULL;
	row = &witness_rows[at];
	row->mono = ktime_get_mono_fast_ns();
	row->real = ktime_get_real_fast_ns();
	row->kind = kind;
	row->symbol = symbol;
	row->cpu = raw_smp_processor_id();
	row->pid = current->pid;
	memcpy(row->comm, current->comm, sizeof(row->comm));
	row->skb = skb;
	row->head = skb->head;
	row->data = skb->data;
	row->len = skb->len;
	row->paged = skb->data_len;
	return row;
}

void witness_device(struct witness_row *row, const struct net_device *dev)
{
	if (!row || !dev)
		return;
	row->ifindex = dev->ifindex;
	row->netns = dev_net(dev)->ns.inum;
}

static uint witness_kept(void)
{
	return min_t(uint, atomic_read(&witness_next), rows);
}

static void *witness_start(struct seq_file *m, loff_t *at)
{
	return *at < witness_kept() ? &witness_rows[*at] : NULL;
}

static void *witness_following(struct seq_file *m, void *row, loff_t *at)
{
	(*at)++;
	return witness_start(m, at);
}

static void witness_stop(struct seq_file *m, void *row)
{
}

static int witness_show(struct seq_file *m, void *row)
{
	witness_show_row(m, row);
	return 0;
}

static const struct seq_operations witness_trace_sops = {
	.start = witness_start, .next = witness_following, .stop = witness_stop,
	.show = witness_show,
};
DEFINE_SEQ_ATTRIBUTE(witness_trace);

static int witness_stats_show(struct seq_file *m, void *unused)
{
	int i;

	seq_printf(m, "entries %u\noverrun %u\n", witness_kept(),
		   atomic_read(&witness_next) - witness_kept());
	for (i = 0; i < KINDS; i++)
		seq_printf(m, "event %s %u\n", witness_name(i), atomic_read(&witness_hits[i]));
	witness_watch_show(m);
	witness_birth_show(m);
	return 0;
}
DEFINE_SHOW_ATTRIBUTE(witness_stats);

static int __init witness_init(void)
{
	witness_rows = vzalloc(array_size(rows, sizeof(*witness_rows)));
	if (!witness_rows)
		return -ENOMEM;
	witness_folder = debugfs_create_dir("witness", NULL);
	debugfs_create_file("trace", 0400, witness_folder, NULL, &witness_trace_fops);
	debugfs_create_file("stats", 0400, witness_folder, NULL, &witness_stats_fops);
	debugfs_create_bool("on", 0600, witness_folder, &witness_on);
	witness_watch_begin();
	witness_birth_begin();
	witness_event_begin();
	WRITE_ONCE(witness_on, true);
	return 0;
}

static void __exit witness_exit(void)
{
	WRITE_ONCE(witness_on, false);
	witness_event_end();
	witness_birth_end();
	witness_watch_end();
	debugfs_remove(witness_folder);
	vfree(witness_rows);
}

module_init(witness_init);
module_exit(witness_exit);
MODULE_LICENSE("GPL");
MODULE_DESCRIPTION("Writes down what happens to each skb, for tests");
