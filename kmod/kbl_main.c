// SPDX-License-Identifier: GPL-2.0-only
/*
 * kbl - records entry and exit of the functions that handle an sk_buff.
 *
 * debugfs/kbl/probes   write one function a line, read the table
 *             control  "stext ADDR", "start", "stop", "clear"
 *             stats clock devices reasons
 *             cpuN     relay files, read by kblrecord
 */
#include <linux/debugfs.h>
#include <linux/module.h>
#include <linux/mutex.h>
#include <linux/timekeeping.h>
#include <linux/uaccess.h>
#include <net/dropreason.h>

#include "kbl_internal.h"

static unsigned int subbuf_kb = 256;
module_param(subbuf_kb, uint, 0444);
MODULE_PARM_DESC(subbuf_kb, "KiB of one sub-buffer");

static unsigned int n_subbufs = 16;
module_param(n_subbufs, uint, 0444);
MODULE_PARM_DESC(n_subbufs, "sub-buffers per CPU");

static unsigned int maxactive = 256;
module_param(maxactive, uint, 0444);
MODULE_PARM_DESC(maxactive, "calls of one function that can be open at once");

struct kbl_cpu __percpu *kbl_cpus;
unsigned long kbl_stext;
bool kbl_active;

static DEFINE_MUTEX(kbl_lock);
static bool kbl_armed;
static struct dentry *kbl_dir;
static struct dentry *kbl_control;

/* A write carries one line. */
static int kbl_copy_line(char *line, size_t size, const char __user *from, size_t count)
{
	if (count >= size)
		return -E2BIG;
	if (copy_from_user(line, from, count))
		return -EFAULT;
	line[count] = 0;
	return 0;
}

static int kbl_start(void)
{
	int armed;

	if (!kbl_stext || kbl_armed)
		return kbl_armed ? -EBUSY : -EINVAL;
	armed = kbl_targets_arm(maxactive);
	kbl_armed = true;
	WRITE_ONCE(kbl_active, true);
	pr_info("kbl: recording, %d functions armed\n", armed);
	return 0;
}

static void kbl_stop(void)
{
	WRITE_ONCE(kbl_active, false);
	if (!kbl_armed)
		return;
	kbl_targets_disarm();
	kbl_armed = false;
	kbl_relay_flush_lost();
}

static int kbl_clear(void)
{
	if (kbl_armed)
		return -EBUSY;
	kbl_targets_free();
	kbl_relay_clear();
	return 0;
}

static int kbl_command(const char *line)
{
	if (sscanf(line, "stext %lx", &kbl_stext) == 1)
		return 0;
	if (sysfs_streq(line, "start"))
		return kbl_start();
	if (sysfs_streq(line, "clear"))
		return kbl_clear();
	if (!sysfs_streq(line, "stop"))
		return -EINVAL;
	kbl_stop();
	return 0;
}

static ssize_t kbl_control_write(struct file *file, const char __user *from, size_t count,
				 loff_t *pos)
{
	char line[64];
	int err = kbl_copy_line(line, sizeof(line), from, count);

	if (err)
		return err;
	mutex_lock(&kbl_lock);
	err = kbl_command(line);
	mutex_unlock(&kbl_lock);
	return err ?: count;
}

static const struct file_operations kbl_control_fops = {
	.owner = THIS_MODULE,
	.open = simple_open,
	.write = kbl_control_write,
};

static ssize_t kbl_probes_write(struct file *file, const char __user *from, size_t count,
				loff_t *pos)
{
	char line[160];
	int err = kbl_copy_line(line, sizeof(line), from, count);

	if (err)
		return err;
	mutex_lock(&kbl_lock);
	err = kbl_armed ? -EBUSY : kbl_target_add(line);
	mutex_unlock(&kbl_lock);
	return err ?: count;
}

static int kbl_probes_show(struct seq_file *m, void *unused)
{
	mutex_lock(&kbl_lock);
	kbl_targets_show(m);
	mutex_unlock(&kbl_lock);
	return 0;
}

static int kbl_probes_open(struct inode *inode, struct file *file)
{
	return single_open(file, kbl_probes_show, NULL);
}

static const struct file_operations kbl_probes_fops = {
	.owner = THIS_MODULE,
	.open = kbl_probes_open,
	.read = seq_read,
	.write = kbl_probes_write,
	.llseek = seq_lseek,
	.release = single_release,
};

static int stats_show(struct seq_file *m, void *unused)
{
	u64 written = 0, lost = 0, null_skb = 0, nested = 0;
	int cpu;

	for_each_possible_cpu(cpu) {
		const struct kbl_cpu *c = per_cpu_ptr(kbl_cpus, cpu);

		written += c->written;
		lost += c->lost;
		null_skb += c->null_skb;
		nested += c->nested;
	}
	mutex_lock(&kbl_lock);
	seq_printf(m, "%llu %llu %llu %llu %llu %llu\n", ktime_get_mono_fast_ns(), written, lost,
		   kbl_targets_missed(), null_skb, nested);
	mutex_unlock(&kbl_lock);
	return 0;
}
DEFINE_SHOW_ATTRIBUTE(stats);

static int clock_show(struct seq_file *m, void *unused)
{
	u64 before, real, boot, after;
	unsigned long flags;

	local_irq_save(flags);
	before = ktime_get_mono_fast_ns();
	real = ktime_get_real_fast_ns();
	boot = ktime_get_boot_fast_ns();
	after = ktime_get_mono_fast_ns();
	local_irq_restore(flags);
	seq_printf(m, "%llu %llu %llu %llu\n", before + (after - before) / 2, real, boot,
		   after - before);
	return 0;
}
DEFINE_SHOW_ATTRIBUTE(clock);

static int devices_show(struct seq_file *m, void *unused)
{
	kbl_dev_show(m);
	return 0;
}
DEFINE_SHOW_ATTRIBUTE(devices);

struct kbl_reason {
	int number;
	const char *name;
};

#define KBL_REASON(reason) { SKB_DROP_REASON_##reason, #reason },
static const struct kbl_reason kbl_reasons[] = { DEFINE_DROP_REASON(KBL_REASON, KBL_REASON) };

static int reasons_show(struct seq_file *m, void *unused)
{
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(kbl_reasons); i++)
		seq_printf(m, "%d %s\n", kbl_reasons[i].number, kbl_reasons[i].name);
	return 0;
}
DEFINE_SHOW_ATTRIBUTE(reasons);

static int __init kbl_init(void)
{
	int err;

	kbl_cpus = alloc_percpu(struct kbl_cpu);
	if (!kbl_cpus)
		return -ENOMEM;
	kbl_dir = debugfs_create_dir("kbl", NULL);
	if (IS_ERR(kbl_dir)) {
		err = PTR_ERR(kbl_dir);
		goto free_cpus;
	}
	err = kbl_relay_open(kbl_dir, subbuf_kb * 1024, n_subbufs);
	if (err)
		goto remove_dir;
	err = kbl_dev_init();
	if (err)
		goto close_relay;
	debugfs_create_file("probes", 0600, kbl_dir, NULL, &kbl_probes_fops);
	debugfs_create_file("stats", 0400, kbl_dir, NULL, &stats_fops);
	debugfs_create_file("clock", 0400, kbl_dir, NULL, &clock_fops);
	debugfs_create_file("devices", 0400, kbl_dir, NULL, &devices_fops);
	debugfs_create_file("reasons", 0400, kbl_dir, NULL, &reasons_fops);
	kbl_control = debugfs_create_file("control", 0200, kbl_dir, NULL, &kbl_control_fops);
	return 0;

close_relay:
	kbl_relay_close();
remove_dir:
	debugfs_remove(kbl_dir);
free_cpus:
	free_percpu(kbl_cpus);
	return err;
}

static void __exit kbl_exit(void)
{
	/* First the door through which a start could still come in. */
	debugfs_remove(kbl_control);
	kbl_stop();
	kbl_dev_exit();
	kbl_relay_close();
	debugfs_remove(kbl_dir);
	kbl_targets_free();
	free_percpu(kbl_cpus);
}

module_init(kbl_init);
module_exit(kbl_exit);
MODULE_LICENSE("GPL");
MODULE_DESCRIPTION("Records entry and exit of the functions that handle an sk_buff");
