// SPDX-License-Identifier: GPL-2.0-only
/*
 * Relay channels, one for each CPU.  A record's data is written before c->at, with interrupts
 * off. So a reader of the current sub-buffer never sees an incomplete record, which it could
 * with relay_reserve().  relay's own offset is valid only while sub-buffers are switched.
 */
#include <linux/debugfs.h>

#include "kbl_record.h"

static struct rchan *kbl_chan;
static const struct file_operations *kbl_relay_file;

static struct dentry *kbl_create_buf(const char *name, struct dentry *parent, umode_t mode,
				     struct rchan_buf *buf, int *is_global)
{
	/*
	 * The proxy file operations of debugfs_create_file() have no mmap.  An open file holds
	 * the module, so the file is removed in time.
	 */
	return debugfs_create_file_unsafe(name, 0400, parent, buf, kbl_relay_file);
}

static int kbl_remove_buf(struct dentry *dentry)
{
	debugfs_remove(dentry);
	return 0;
}

/* kbl_relay_switch() has checked that this sub-buffer is free. */
static int kbl_subbuf_start(struct rchan_buf *buf, void *subbuf, void *before, size_t padding)
{
	buf->offset = KBL_MAP_HEAD;
	return 1;
}
NOKPROBE_SYMBOL(kbl_subbuf_start);

static const struct rchan_callbacks kbl_relay_callbacks = {
	.subbuf_start = kbl_subbuf_start,
	.create_buf_file = kbl_create_buf,
	.remove_buf_file = kbl_remove_buf,
};

/* @file: operations of the files cpuN. */
int kbl_relay_open(struct dentry *dir, const struct file_operations *file, size_t subbuf_size,
		   size_t n_subbufs)
{
	kbl_relay_file = file;
	kbl_chan = relay_open("cpu", dir, subbuf_size, n_subbufs, &kbl_relay_callbacks, NULL);
	return kbl_chan ? 0 : -ENOMEM;
}

void kbl_relay_close(void)
{
	relay_close(kbl_chan);
	kbl_chan = NULL;
}

/* @subbufs switches of sub-buffers are complete. */
static __always_inline void kbl_relay_ready(struct kbl_cpu *c, size_t subbufs)
{
	/* Pairs with the acquire in kbl_readable(). */
	smp_store_release(&c->ready, subbufs);
}

/* Offset of the next record in its sub-buffer; never the sub-buffer's end. */
size_t kbl_relay_offset(const struct kbl_cpu *c, const struct rchan_buf *buf)
{
	return ((void *)READ_ONCE(c->at) - buf->start) % buf->chan->subbuf_size;
}
NOKPROBE_SYMBOL(kbl_relay_offset);

/* Bytes of records in a CPU's current sub-buffer. */
size_t kbl_relay_last(const struct kbl_cpu *c)
{
	const struct rchan_buf *buf = READ_ONCE(c->buf);

	return buf ? kbl_relay_offset(c, buf) - KBL_MAP_HEAD : 0;
}

void kbl_limit(struct kbl_cpu *c)
{
	WRITE_ONCE(c->limit, c->slow ? NULL : c->end - 2);
}
NOKPROBE_SYMBOL(kbl_limit);

/* Write records to [@from, @to) from now on. */
void kbl_relay_place(struct kbl_cpu *c, void *from, void *to)
{
	WRITE_ONCE(c->at, from);
	c->end = to;
	kbl_limit(c);
}
NOKPROBE_SYMBOL(kbl_relay_place);

/* Write records to relay's current sub-buffer. */
static void kbl_relay_begin(struct kbl_cpu *c)
{
	const struct rchan_buf *buf = c->buf;

	kbl_relay_place(c, buf->data + buf->offset,
			buf->data + kbl_chan->subbuf_size - KBL_MAP_HEAD);
}
NOKPROBE_SYMBOL(kbl_relay_begin);

/* Discard what was recorded.  Call it only while nothing is armed. */
void kbl_relay_clear(void)
{
	int cpu;

	/* First, so that nobody reads in between. */
	for_each_possible_cpu(cpu) {
		struct kbl_cpu *c = per_cpu(kbl_cpu, cpu);

		if (c->buf)
			WRITE_ONCE(c->at, c->buf->start);
		kbl_relay_ready(c, 0);
	}
	relay_reset(kbl_chan);
	for_each_possible_cpu(cpu) {
		struct kbl_cpu *c = per_cpu(kbl_cpu, cpu);

		c->written = 0;
		c->bytes = 0;
		c->lost = 0;
		c->gap = false;
		c->lost_pending = 0;
		c->slow = false;
		c->nested = 0;
		c->nested_pending = 0;
		c->null_skb = 0;
		c->filtered = 0;
		c->open = 0;
		c->unpaired = 0;
		c->inner_outside = 0;
		c->inner_missed = 0;
		memset(c->hits, 0, sizeof(c->hits));
		if (c->buf)
			kbl_relay_begin(c);
	}
}

/* Before a recording: a CPU that came online since the last one has a buffer now. */
void kbl_relay_start(void)
{
	int cpu;

	for_each_possible_cpu(cpu) {
		struct kbl_cpu *c = per_cpu(kbl_cpu, cpu);

		if (!c->buf) {
			c->buf = *per_cpu_ptr(kbl_chan->buf, cpu);
			c->slow = c->slow || !c->buf;
			if (c->buf)
				kbl_relay_begin(c);
		}
	}
}

/*
 * Leave a full buffer as it is, so that relay never marks it full.  If it were marked again and
 * again, relay_file_read_avail() could take that for an overwritten buffer and skip a
 * sub-buffer that nobody read.
 */
static bool kbl_relay_switch(struct kbl_cpu *c, size_t len)
{
	struct rchan_buf *buf = c->buf;

	if (buf->subbufs_produced + 1 - READ_ONCE(buf->subbufs_consumed) >= kbl_chan->n_subbufs)
		return false;
	buf->offset = kbl_relay_offset(c, buf);
	c->bytes += buf->offset - KBL_MAP_HEAD;
	if (!relay_switch_subbuf(buf, len))
		return false;
	kbl_relay_begin(c);
	kbl_relay_ready(c, buf->subbufs_produced);
	return true;
}
NOKPROBE_SYMBOL(kbl_relay_switch);

/* Copy slot by slot: a batch is short, and rep movs is slow to start. */
bool kbl_relay_copy(struct kbl_cpu *c)
{
	size_t len = c->nslots * KBL_SLOT_SIZE;
	union kbl_slot *to;
	unsigned int i;

	if (unlikely(!c->buf)) {
		c->buf = *this_cpu_ptr(kbl_chan->buf);
		if (!c->buf)
			return false;
		kbl_relay_begin(c);
	}
	if (c->at + c->nslots > c->end && !kbl_relay_switch(c, len))
		return false;
	to = c->at;
	for (i = 0; i < c->nslots; i++)
		to[i] = c->slots[i];
	return true;
}
NOKPROBE_SYMBOL(kbl_relay_copy);
