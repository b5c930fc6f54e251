// SPDX-License-Identifier: GPL-2.0-only
/*
 * kbltest - functions to probe, for the lab.
 *
 * debugfs/kbltest:
 *   call    takes "CONTEXT CPU COUNT": kbltest_call() is called so often, exactly, before
 *           the write returns; CONTEXT is task, softirq, hrtimer, irq_work or ipi
 *   carry   takes anything: each function of kbltest_skb.c is called once
 *   sleep   takes anything: the writer sleeps in kbltest_sleep() ...
 *   wake    ... until this is written
 */
#include <linux/debugfs.h>
#include <linux/fs.h>
#include <linux/module.h>
#include <linux/uaccess.h>
#include <linux/wait.h>

#include "kbltest.h"

static struct dentry *kbltest_dir;
static DECLARE_WAIT_QUEUE_HEAD(kbltest_sleepers);
static unsigned int kbltest_wakes;

KBLTEST_PROBED int kbltest_call(struct sk_buff *skb, unsigned long number)
{
	barrier();
	return 0;
}

KBLTEST_PROBED int kbltest_sleep(struct sk_buff *skb)
{
	unsigned int seen = READ_ONCE(kbltest_wakes);

	return wait_event_interruptible(kbltest_sleepers, READ_ONCE(kbltest_wakes) != seen);
}

static ssize_t kbltest_call_write(struct file *file, const char __user *buf, size_t len,
				  loff_t *pos)
{
	char line[64], context[16];
	unsigned long count;
	unsigned int cpu;
	ssize_t err;

	if (len >= sizeof(line))
		return -EINVAL;
	if (copy_from_user(line, buf, len))
		return -EFAULT;
	line[len] = 0;
	if (sscanf(line, "%15s %u %lu", context, &cpu, &count) != 3)
		return -EINVAL;
	err = kbltest_run(context, cpu, count);
	return err ?: len;
}

static ssize_t kbltest_carry_write(struct file *file, const char __user *buf, size_t len,
				   loff_t *pos)
{
	int err = kbltest_carry_all();

	return err ?: len;
}

static ssize_t kbltest_sleep_write(struct file *file, const char __user *buf, size_t len,
				   loff_t *pos)
{
	struct sk_buff *skb = kbltest_skb(1);
	int err;

	if (!skb)
		return -ENOMEM;
	err = kbltest_sleep(skb);
	kfree_skb(skb);
	return err ?: len;
}

static ssize_t kbltest_wake_write(struct file *file, const char __user *buf, size_t len,
				  loff_t *pos)
{
	WRITE_ONCE(kbltest_wakes, kbltest_wakes + 1);
	wake_up_all(&kbltest_sleepers);
	return len;
}

#define KBLTEST_FOPS(name)						\
	static const struct file_operations kbltest_##name##_fops = {	\
		.owner = THIS_MODULE,					\
		.write = kbltest_##name##_write,			\
	}

KBLTEST_FOPS(call);
KBLTEST_FOPS(carry);
KBLTEST_FOPS(sleep);
KBLTEST_FOPS(wake);

int __weak kbltest_loop_init(struct dentry *dir)
{
	return 0;
}

static int __init kbltest_init(void)
{
	kbltest_dir = debugfs_create_dir("kbltest", NULL);
	debugfs_create_file("call", 0200, kbltest_dir, NULL, &kbltest_call_fops);
	debugfs_create_file("carry", 0200, kbltest_dir, NULL, &kbltest_carry_fops);
	debugfs_create_file("sleep", 0200, kbltest_dir, NULL, &kbltest_sleep_fops);
	debugfs_create_file("wake", 0200, kbltest_dir, NULL, &kbltest_wake_fops);
	return kbltest_loop_init(kbltest_dir);
}

static void __exit kbltest_exit(void)
{
	debugfs_remove(kbltest_dir);
}

module_init(kbltest_init);
module_exit(kbltest_exit);
MODULE_DESCRIPTION("Functions for the lab to probe");
MODULE_LICENSE("GPL");
