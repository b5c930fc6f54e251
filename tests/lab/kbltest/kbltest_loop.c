// SPDX-License-Identifier: GPL-2.0-only
/*
 * debugfs/kbltest/loop: functions of known length, nested three deep.
 *
 * Takes "N ROUNDS": so often, kbltest_outer() runs a loop of N instructions and
 * calls kbltest_middle(), which does the same and calls kbltest_inner(), which
 * only runs the loop.  Interrupts are off in a round.  Reading returns "N NS",
 * the least time that a round took.
 */
#include <linux/debugfs.h>
#include <linux/kernel.h>
#include <linux/math64.h>
#include <linux/seq_file.h>
#include <linux/timekeeping.h>
#include <linux/uaccess.h>

#include "kbltest.h"

#define KBLTEST_LOOP_MOST 10000000

static unsigned long kbltest_loop_n;
static u64 kbltest_loop_ns;

/* Two instructions each time round. */
static __always_inline void kbltest_spin(unsigned long instructions)
{
	unsigned long left = instructions / 2;

#if defined(CONFIG_X86_64)
	asm volatile("1: dec %0\n\tjnz 1b" : "+r" (left) : : "cc");
#elif defined(CONFIG_ARM64)
	asm volatile("1: subs %0, %0, #1\n\tb.ne 1b" : "+r" (left) : : "cc");
#else
#error "no loop of known length for this architecture"
#endif
}

static KBLTEST_PROBED void kbltest_inner(struct sk_buff *skb, unsigned long n)
{
	kbltest_spin(n);
}

static KBLTEST_PROBED void kbltest_middle(struct sk_buff *skb, unsigned long n)
{
	kbltest_spin(n);
	kbltest_inner(skb, n);
	barrier();
}

static KBLTEST_PROBED void kbltest_outer(struct sk_buff *skb, unsigned long n)
{
	kbltest_spin(n);
	kbltest_middle(skb, n);
	barrier();
}

static u64 kbltest_loop_round(struct sk_buff *skb, unsigned long n)
{
	unsigned long irq;
	u64 begin, end;

	local_irq_save(irq);
	begin = ktime_get_mono_fast_ns();
	kbltest_outer(skb, n);
	end = ktime_get_mono_fast_ns();
	local_irq_restore(irq);
	return end - begin;
}

static ssize_t kbltest_loop_write(struct file *file, const char __user *buf, size_t len,
				  loff_t *pos)
{
	unsigned int rounds;
	struct sk_buff *skb;
	unsigned long n;
	char line[64];

	if (len >= sizeof(line))
		return -EINVAL;
	if (copy_from_user(line, buf, len))
		return -EFAULT;
	line[len] = 0;
	if (sscanf(line, "%lu %u", &n, &rounds) != 2 || n < 2 || n > KBLTEST_LOOP_MOST)
		return -EINVAL;
	skb = kbltest_skb(5);
	if (!skb)
		return -ENOMEM;
	kbltest_loop_n = n;
	kbltest_loop_ns = U64_MAX;
	while (rounds--)
		kbltest_loop_ns = min(kbltest_loop_ns, kbltest_loop_round(skb, n));
	kfree_skb(skb);
	return len;
}

static int kbltest_loop_show(struct seq_file *m, void *unused)
{
	seq_printf(m, "%lu %llu\n", kbltest_loop_n, kbltest_loop_ns);
	return 0;
}

static int kbltest_loop_open(struct inode *inode, struct file *file)
{
	return single_open(file, kbltest_loop_show, NULL);
}

static const struct file_operations kbltest_loop_fops = {
	.owner = THIS_MODULE,
	.open = kbltest_loop_open,
	.read = seq_read,
	.write = kbltest_loop_write,
	.llseek = seq_lseek,
	.release = single_release,
};

int kbltest_loop_init(struct dentry *dir)
{
	debugfs_create_file("loop", 0600, dir, NULL, &kbltest_loop_fops);
	return 0;
}
