// SPDX-License-Identifier: GPL-2.0-only
/*
 * Per-CPU relay channels.  Slots are collected in a batch and go out whole:
 * data first, then the offset, with interrupts off, so that a reader of the
 * current sub-buffer never sees a torn record (relay_reserve() lets it).
 */
#include <linux/debugfs.h>
#include <linux/relay.h>
#include <linux/sched.h>
#include <linux/timekeeping.h>

#include "kbl_internal.h"

static struct rchan *kbl_chan;

static struct dentry *kbl_create_buf(const char *name, struct dentry *parent, umode_t mode,
				     struct rchan_buf *buf, int *is_global)
{
	return debugfs_create_file(name, 0400, parent, buf, &relay_file_operations);
}

static int kbl_remove_buf(struct dentry *dentry)
{
	debugfs_remove(dentry);
	return 0;
}

static const struct rchan_callbacks kbl_relay_callbacks = {
	.create_buf_file = kbl_create_buf,
	.remove_buf_file = kbl_remove_buf,
};

int kbl_relay_open(struct dentry *dir, size_t subbuf_size, size_t n_subbufs)
{
	kbl_chan = relay_open("cpu", dir, subbuf_size, n_subbufs, &kbl_relay_callbacks, NULL);
	return kbl_chan ? 0 : -ENOMEM;
}

void kbl_relay_close(void)
{
	relay_close(kbl_chan);
	kbl_chan = NULL;
}

/* Forget what was recorded; only while nothing is armed. */
void kbl_relay_clear(void)
{
	int cpu;

	relay_reset(kbl_chan);
	for_each_possible_cpu(cpu) {
		struct kbl_cpu *c = per_cpu_ptr(kbl_cpus, cpu);

		memset(c, 0, sizeof(*c));
	}
}

union kbl_slot *kbl_head(struct kbl_cpu *c)
{
	union kbl_slot *slot = &c->slots[c->nslots++];

	memset(slot, 0, sizeof(*slot));
	c->nheads++;
	return slot;
}
NOKPROBE_SYMBOL(kbl_head);

union kbl_slot *kbl_ext(struct kbl_cpu *c, u8 type)
{
	union kbl_slot *slot = &c->slots[c->nslots++];

	memset(slot, 0, sizeof(*slot));
	slot->skb.kind = KBL_EXT;
	slot->skb.type = type;
	return slot;
}
NOKPROBE_SYMBOL(kbl_ext);

/* A gap is told before the next record that fits. */
static void kbl_batch_lost(struct kbl_cpu *c, u64 now)
{
	struct kbl_lost_slot *lost = &kbl_head(c)->lost;

	lost->kind = KBL_LOST;
	lost->reason = KBL_LOST_BUFFER;
	lost->func = U32_MAX;
	lost->ts = now;
	lost->first_ns = c->lost_first_ns;
	lost->count = c->lost_pending;
}
NOKPROBE_SYMBOL(kbl_batch_lost);

/* Name a thread the first time it is seen here, or after it changed its name. */
static void kbl_batch_task(struct kbl_cpu *c, u64 now)
{
	struct kbl_seen *seen = &c->seen[current->pid & (KBL_SEEN_TASKS - 1)];
	struct kbl_event_slot *event;
	struct kbl_ext_comm *comm;

	if (seen->pid == current->pid + 1 && !memcmp(seen->comm, current->comm, sizeof(seen->comm)))
		return;
	event = &kbl_head(c)->event;
	event->kind = KBL_EVENT;
	event->event = KBL_EV_TASK;
	event->ext = 1;
	event->pid = current->pid;
	event->ts = now;
	event->data = current->tgid;
	comm = &kbl_ext(c, KBL_EXT_COMM)->comm;
	comm->tid = current->pid;
	memcpy(comm->comm, current->comm, sizeof(comm->comm));
	comm->comm[sizeof(comm->comm) - 1] = 0;
	seen->pid = current->pid + 1;
	memcpy(seen->comm, current->comm, sizeof(seen->comm));
	c->fresh = seen;
}
NOKPROBE_SYMBOL(kbl_batch_task);

/* Interrupts are off from here to the commit.  Returns the batch's time. */
u64 kbl_batch_begin(struct kbl_cpu *c)
{
	u64 now = ktime_get_mono_fast_ns();

	/* The fast clock may step back a little when timekeeping updates. */
	if (now < c->last_ns)
		now = c->last_ns;
	c->last_ns = now;
	c->nslots = 0;
	c->nheads = 0;
	c->fresh = NULL;
	if (c->lost_pending)
		kbl_batch_lost(c, now);
	kbl_batch_task(c, now);
	return now;
}
NOKPROBE_SYMBOL(kbl_batch_begin);

static bool kbl_relay_put(const void *data, size_t len)
{
	struct rchan_buf *buf = *this_cpu_ptr(kbl_chan->buf);

	if (unlikely(!buf))
		return false;
	if (unlikely(buf->offset + len > kbl_chan->subbuf_size) && !relay_switch_subbuf(buf, len))
		return false;
	memcpy(buf->data + buf->offset, data, len);
	/* Pairs with the reader in relay_file_read(): the data before the offset. */
	smp_wmb();
	WRITE_ONCE(buf->offset, buf->offset + len);
	return true;
}
NOKPROBE_SYMBOL(kbl_relay_put);

/* Write the batch, or count every record of it as lost. */
bool kbl_batch_commit(struct kbl_cpu *c)
{
	unsigned int heads = c->nheads;

	if (likely(kbl_relay_put(c->slots, c->nslots * sizeof(c->slots[0])))) {
		c->written += heads;
		c->lost_pending = 0;
		return true;
	}
	if (c->fresh)
		c->fresh->pid = 0;
	if (c->lost_pending)
		heads--;	/* the LOST slot itself */
	else
		c->lost_first_ns = c->last_ns;
	c->lost_pending += heads;
	c->lost += heads;
	return false;
}
NOKPROBE_SYMBOL(kbl_batch_commit);

static void kbl_flush_this_cpu(void *unused)
{
	struct kbl_cpu *c = this_cpu_ptr(kbl_cpus);
	unsigned long flags;

	local_irq_save(flags);
	if (c->lost_pending) {
		kbl_batch_begin(c);
		kbl_batch_commit(c);
	}
	local_irq_restore(flags);
}

/* After a stop: tell gaps that no later record told. */
void kbl_relay_flush_lost(void)
{
	on_each_cpu(kbl_flush_this_cpu, NULL, 1);
}
