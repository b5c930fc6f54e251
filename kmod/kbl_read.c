// SPDX-License-Identifier: GPL-2.0-only
/*
 * Read the buffer of a CPU.
 *
 * relay_file_read() is not used.  Between subbufs_produced++ and data = new in
 * relay_switch_subbuf(), a reader that has caught up would take the new sub-buffer for a full
 * one, although it is empty or holds old records.  Here, c->ready counts only completed
 * switches. Full sub-buffers can be used in place, see kbl_map.h.
 */
#include <linux/cpumask.h>
#include <linux/fs.h>
#include <linux/mutex.h>
#include <linux/uaccess.h>

#include "kbl_record.h"

static struct file_operations kbl_cpu_fops;
static struct cpumask kbl_opened;	/* CPUs whose file is open */

/*
 * The number of bytes of complete records that can be read now.  0: this sub-buffer has no
 * further records yet.
 */
static size_t kbl_readable(const struct kbl_cpu *c, struct rchan_buf *buf, bool *full)
{
	size_t consumed = buf->subbufs_consumed, end, ready;

	/* Records begin after the head. */
	buf->bytes_consumed = max_t(size_t, buf->bytes_consumed, KBL_MAP_HEAD);

	do {
		/* Pairs with the release in kbl_relay_ready(). */
		ready = smp_load_acquire(&c->ready);
		end = kbl_relay_offset(c, buf);
		/* An offset in a later sub-buffer is written after c->ready of that switch. */
		smp_rmb();
	} while (ready != READ_ONCE(c->ready));
	*full = (ssize_t)(ready - consumed) > 0;
	if (*full)
		end = buf->chan->subbuf_size - buf->padding[consumed % buf->chan->n_subbufs];
	else if (ready != consumed)
		return 0;
	return end > buf->bytes_consumed ? end - buf->bytes_consumed : 0;
}

/* Everything was read and nothing follows but the losses at the end. */
static bool kbl_read_last(struct kbl_cpu *c)
{
	bool recorded;

	mutex_lock(&kbl_lock);
	recorded = !kbl_active && kbl_emit_last_losses(c);
	mutex_unlock(&kbl_lock);
	return recorded;
}

/* Like relay_file_read(): returns what is available, or 0. */
static ssize_t kbl_cpu_read(struct file *file, char __user *to, size_t count, loff_t *pos)
{
	struct rchan_buf *buf = file->private_data;
	struct kbl_cpu *c = per_cpu(kbl_cpu, buf->cpu);
	size_t subbuf_size = buf->chan->subbuf_size, done = 0;
	ssize_t err = 0;
	bool full;

	inode_lock(file_inode(file));
	while (done < count && !err) {
		size_t place = buf->subbufs_consumed % buf->chan->n_subbufs;
		size_t n = min(kbl_readable(c, buf, &full), count - done);

		if (!n && !full && (done || !kbl_read_last(c)))
			break;
		if (!n && !full)
			continue;
		if (!n) {
			buf->bytes_consumed = 0;
			relay_subbufs_consumed(buf->chan, buf->cpu, 1);
		} else if (copy_to_user(to + done, buf->start + place * subbuf_size +
					buf->bytes_consumed, n)) {
			err = -EFAULT;
		} else {
			buf->bytes_consumed += n;
			done += n;
		}
	}
	inode_unlock(file_inode(file));
	return done ?: err;
}

/* Find the next bytes to read, if they are in a full sub-buffer. */
static bool kbl_map_part(struct rchan_buf *buf, struct kbl_map_part *part)
{
	struct kbl_cpu *c = per_cpu(kbl_cpu, buf->cpu);
	size_t n;
	bool full;

	part->size = buf->chan->alloc_size;
	for (;;) {
		n = kbl_readable(c, buf, &full);
		if (!full)
			return false;
		if (n)
			break;
		buf->bytes_consumed = 0;
		relay_subbufs_consumed(buf->chan, buf->cpu, 1);
	}
	part->from = buf->subbufs_consumed % buf->chan->n_subbufs * buf->chan->subbuf_size +
		     buf->bytes_consumed;
	part->to = part->from + n;
	return true;
}

static long kbl_map_next(struct rchan_buf *buf, struct kbl_map_part __user *to)
{
	struct kbl_map_part part = {};
	bool there = kbl_map_part(buf, &part);

	if (copy_to_user(to, &part, sizeof(part)))
		return -EFAULT;
	return there ? 0 : -EAGAIN;
}

static long kbl_map_done(struct rchan_buf *buf, const struct kbl_map_part __user *from)
{
	struct kbl_map_part part, now = {};

	if (copy_from_user(&part, from, sizeof(part)))
		return -EFAULT;
	if (!kbl_map_part(buf, &now) || now.from != part.from || now.to != part.to)
		return -EINVAL;
	buf->bytes_consumed = 0;
	relay_subbufs_consumed(buf->chan, buf->cpu, 1);
	return 0;
}

static long kbl_cpu_ioctl(struct file *file, unsigned int command, unsigned long arg)
{
	void __user *where = (void __user *)arg;
	long err = -ENOTTY;

	inode_lock(file_inode(file));
	if (command == KBL_MAP_NEXT)
		err = kbl_map_next(file->private_data, where);
	else if (command == KBL_MAP_DONE)
		err = kbl_map_done(file->private_data, where);
	inode_unlock(file_inode(file));
	return err;
}

/* Reading consumes the records: each of two readers would get only a part of them. */
static int kbl_cpu_open(struct inode *inode, struct file *file)
{
	const struct rchan_buf *buf = inode->i_private;
	unsigned int cpu = buf->cpu;
	int err;

	if (cpumask_test_and_set_cpu(cpu, &kbl_opened))
		return -EBUSY;
	err = relay_file_operations.open(inode, file);
	if (err)
		cpumask_clear_cpu(cpu, &kbl_opened);
	return err;
}

/* Called also when the reader is killed.  A mapping keeps the file open. */
static int kbl_cpu_release(struct inode *inode, struct file *file)
{
	const struct rchan_buf *buf = file->private_data;
	unsigned int cpu = buf->cpu;	/* relay may free the buffer */
	int err = relay_file_operations.release(inode, file);

	cpumask_clear_cpu(cpu, &kbl_opened);
	return err;
}

/* poll() and mmap() are relay's. */
const struct file_operations *kbl_cpu_file(void)
{
	if (kbl_cpu_fops.owner)
		return &kbl_cpu_fops;
	kbl_cpu_fops = relay_file_operations;
	kbl_cpu_fops.owner = THIS_MODULE;
	kbl_cpu_fops.open = kbl_cpu_open;
	kbl_cpu_fops.release = kbl_cpu_release;
	kbl_cpu_fops.read = kbl_cpu_read;
	kbl_cpu_fops.unlocked_ioctl = kbl_cpu_ioctl;
	kbl_cpu_fops.splice_read = NULL;
	return &kbl_cpu_fops;
}
