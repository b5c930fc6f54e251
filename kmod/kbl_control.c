// SPDX-License-Identifier: GPL-2.0-only
/*
 * The control files in debugfs/kbl/ and /proc/net/kbl.  Reading a file prints its usage and
 * state.  If an unknown word is written to a file, nothing changes.
 */
#include <linux/debugfs.h>
#include <linux/module.h>
#include <linux/mutex.h>
#include <linux/proc_fs.h>
#include <linux/slab.h>
#include <linux/string.h>
#include <linux/timekeeping.h>
#include <linux/uaccess.h>
#include <net/dropreason.h>
#include <net/net_namespace.h>

#include "kbl_events.h"
#include "kbl_whole.h"

#define KBL_MAX_WRITE 65536

/* A control file, and the functions that show and set it.  Both are called under kbl_lock. */
struct kbl_file {
	const char *name;
	void (*show)(struct seq_file *m);
	int (*set)(char *text);
	umode_t mode;
};

static struct proc_dir_entry *kbl_proc;
static struct dentry *kbl_probes_file;
static struct dentry *kbl_control_file;

static int kbl_file_show(struct seq_file *m, void *unused)
{
	const struct kbl_file *file = m->private;

	mutex_lock(&kbl_lock);
	file->show(m);
	mutex_unlock(&kbl_lock);
	return 0;
}

static int kbl_file_open(struct inode *inode, struct file *file)
{
	return single_open(file, kbl_file_show, inode->i_private);
}

static ssize_t kbl_file_set(const struct kbl_file *f, const char __user *from, size_t count)
{
	char *text;
	int err;

	if (!f->set || count > KBL_MAX_WRITE)
		return -EINVAL;
	text = memdup_user_nul(from, count);
	if (IS_ERR(text))
		return PTR_ERR(text);
	/* A NUL inside would hide what comes after it. */
	if (strlen(text) != count) {
		kfree(text);
		return -EINVAL;
	}
	mutex_lock(&kbl_lock);
	err = f->set(text);
	mutex_unlock(&kbl_lock);
	kfree(text);
	return err ?: count;
}

static ssize_t kbl_file_write(struct file *file, const char __user *from, size_t count,
			      loff_t *pos)
{
	return kbl_file_set(file_inode(file)->i_private, from, count);
}

static const struct file_operations kbl_file_fops = {
	.owner = THIS_MODULE,
	.open = kbl_file_open,
	.read = seq_read,
	.write = kbl_file_write,
	.llseek = seq_lseek,
	.release = single_release,
};

static void kbl_probes_show(struct seq_file *m)
{
	seq_puts(m,
		 "# Write lines: NAME [0xADDR] [CARRIER...] [EVENT] [module=M] [RETURNS]\n"
		 "#   [quiet|inner]\n"
		 "# CARRIER = KIND@WHERE, at most 4; KIND skb skbp list queue sock\n"
		 "#   WHERE = index of the argument, from 0, or ret: skb and sock only\n"
		 "# EVENT alloc clone copy segment free consume drop defer_free gro_merge\n"
		 "#   coalesce morph sock_enqueue nf_hook\n"
		 "# RETURNS void bool int, default 64 bits; quiet: only the event is recorded\n"
		 "# inner: a function without an skb, recorded only inside recorded calls\n");
	kbl_targets_show(m);
}

static int kbl_probes_set(char *text)
{
	char *line;
	int err = 0;

	if (kbl_active)
		return -EBUSY;
	while (!err && (line = strsep(&text, "\n"))) {
		char *hash = strchr(line, '#');

		if (hash)
			*hash = 0;
		line = strim(line);
		if (!*line)
			continue;
		/* Parsing splits the line, and the message below needs it. */
		hash = kstrdup(line, GFP_KERNEL);
		err = hash ? kbl_target_add(hash) : -ENOMEM;
		kfree(hash);
		if (err)
			pr_err("kbl: not a probe: %.80s\n", line);
	}
	return err;
}

static void kbl_control_show(struct seq_file *m)
{
	seq_puts(m,
		 "# Write: activate | deactivate | clear (the list and the data, while inactive)\n"
		 "#   enable GLOB | disable GLOB (functions, also while active) | calibrate\n"
		 "#   stext 0xADDR (of _stext, before the first activate)\n"
		 "#   retell (record packets, and names of threads and interrupts, once more)\n");
	seq_printf(m, "%s\narmed %u\nstext 0x%lx\n", kbl_active ? "active" : "inactive",
		   kbl_targets_armed(), kbl_stext);
}

/*
 * The recorder starts a new file, which does not have the TASK and FOOTPRINT records of the old
 * one.
 */
static void kbl_forget_cpu(void *unused)
{
	struct kbl_cpu *c = __this_cpu_read(kbl_cpu);

	memset(c->seen, 0, sizeof(c->seen));
	kbl_forget(c);
	kbl_irq_forget();
}

static int kbl_control_set(char *text)
{
	char *word = strim(text), *argument = strchr(word, ' ');

	if (argument) {
		*argument++ = 0;
		argument = strim(argument);
		if (!strcmp(word, "enable") || !strcmp(word, "disable"))
			return kbl_targets_enable(argument, word[0] == 'e');
		if (!strcmp(word, "stext") && !kbl_active)
			return kstrtoul(argument, 16, &kbl_stext) ? -EINVAL : 0;
		return -EINVAL;
	}
	if (!strcmp(word, "activate"))
		return kbl_activate();
	if (!strcmp(word, "clear"))
		return kbl_clear();
	if (!strcmp(word, "calibrate"))
		return kbl_calibrate();
	if (!strcmp(word, "retell")) {
		on_each_cpu(kbl_forget_cpu, NULL, 1);
		return 0;
	}
	if (strcmp(word, "deactivate"))
		return -EINVAL;
	kbl_deactivate();
	return 0;
}

static int kbl_filter_write(char *text)
{
	return kbl_filter_set(strim(text));
}

static int kbl_events_write(char *text)
{
	return kbl_trace_set(strim(text));
}

static int kbl_counter_write(char *text)
{
	int changed = kbl_counter_set(strim(text));

	/* The cost of the probes has changed. */
	if (changed > 0 && !kbl_floor)
		kbl_calibrate();
	return min(changed, 0);
}

#define KBL_STAT(name) { #name, offsetof(struct kbl_cpu, name) }
static const struct {
	const char *name;
	size_t offset;
} kbl_stats[] = {
	KBL_STAT(written), KBL_STAT(bytes), KBL_STAT(lost), KBL_STAT(null_skb), KBL_STAT(nested),
	KBL_STAT(filtered), KBL_STAT(open), KBL_STAT(unpaired), KBL_STAT(inner_outside),
};

static void kbl_stats_show(struct seq_file *m)
{
	unsigned int i;
	int cpu;

	seq_puts(m, "# name value; missed: hits that the kernel's interface skipped\n");
	seq_printf(m, "mono_ns %llu\nmissed %llu\ninner_missed %llu\n", ktime_get_mono_fast_ns(),
		   kbl_targets_missed(false),
		   kbl_targets_missed(true) +
			   kbl_total(offsetof(struct kbl_cpu, inner_missed)));
	for (i = 0; i < ARRAY_SIZE(kbl_stats); i++)
		seq_printf(m, "%s %llu\n", kbl_stats[i].name, kbl_total(kbl_stats[i].offset));
	seq_printf(m, "sample_broken %llu\n", kbl_whole_count());
	for_each_possible_cpu(cpu) {
		const struct kbl_cpu *c = per_cpu(kbl_cpu, cpu);

		seq_printf(m, "cpu%d written %llu lost %llu nested %llu\n", cpu, c->written,
			   c->lost, c->nested);
	}
}

static void kbl_clock_show(struct seq_file *m)
{
	u64 before, real, boot, after;
	unsigned long flags;

	local_irq_save(flags);
	before = ktime_get_mono_fast_ns();
	real = ktime_get_real_fast_ns();
	boot = ktime_get_boot_fast_ns();
	after = ktime_get_mono_fast_ns();
	local_irq_restore(flags);
	seq_puts(m, "# mono_ns real_ns boot_ns uncertainty_ns\n");
	seq_printf(m, "%llu %llu %llu %llu\n", before + (after - before) / 2, real, boot,
		   after - before);
}

static void kbl_devices_show(struct seq_file *m)
{
	seq_puts(m, "# ifindex netns name\n");
	kbl_dev_show(m);
}

struct kbl_reason {
	int number;
	const char *name;
};

#define KBL_REASON(reason) { SKB_DROP_REASON_##reason, #reason },
static const struct kbl_reason kbl_reasons[] = { DEFINE_DROP_REASON(KBL_REASON, KBL_REASON) };

static void kbl_reasons_show(struct seq_file *m)
{
	unsigned int i;

	seq_puts(m, "# number and name of each drop reason\n");
	for (i = 0; i < ARRAY_SIZE(kbl_reasons); i++)
		seq_printf(m, "%d %s\n", kbl_reasons[i].number, kbl_reasons[i].name);
}

static void kbl_sites_show(struct seq_file *m)
{
	seq_puts(m, "# address and name of the functions that have probes in their source\n");
	kbl_source_show(m);
}

static const struct kbl_file kbl_files[] = {
	{ "filter", kbl_filter_show, kbl_filter_write, 0600 },
	{ "events", kbl_trace_show, kbl_events_write, 0600 },
	{ "counter", kbl_counter_show, kbl_counter_write, 0600 },
	{ "calibration", kbl_calibration_show, NULL, 0400 },
	{ "stats", kbl_stats_show, NULL, 0400 },
	{ "clock", kbl_clock_show, NULL, 0400 },
	{ "devices", kbl_devices_show, NULL, 0400 },
	{ "reasons", kbl_reasons_show, NULL, 0400 },
	{ "sites", kbl_sites_show, NULL, 0400 },
	{ "missed", kbl_missed_show, NULL, 0400 },
};

static const struct kbl_file kbl_probes = { "probes", kbl_probes_show, kbl_probes_set, 0600 };
static const struct kbl_file kbl_control = { "control", kbl_control_show, kbl_control_set, 0600 };

static void kbl_proc_show_state(struct seq_file *m)
{
	seq_puts(m, "# Write activate or deactivate; the rest is in debugfs/kbl.\n");
	seq_printf(m, "%s armed %u written %llu lost %llu\n", kbl_active ? "active" : "inactive",
		   kbl_targets_armed(), kbl_total(offsetof(struct kbl_cpu, written)),
		   kbl_total(offsetof(struct kbl_cpu, lost)));
}

/* Accept exactly one of two words, with or without newline. */
static int kbl_proc_set(char *text)
{
	size_t len = strlen(text);

	if (len && text[len - 1] == '\n')
		text[len - 1] = 0;
	if (!strcmp(text, "activate"))
		return kbl_activate();
	if (strcmp(text, "deactivate"))
		return -EINVAL;
	kbl_deactivate();
	return 0;
}

static const struct kbl_file kbl_proc_file = {
	.show = kbl_proc_show_state,
	.set = kbl_proc_set,
};

static int kbl_proc_open(struct inode *inode, struct file *file)
{
	return single_open(file, kbl_file_show, (void *)&kbl_proc_file);
}

static ssize_t kbl_proc_write(struct file *file, const char __user *from, size_t count,
			      loff_t *pos)
{
	return kbl_file_set(&kbl_proc_file, from, count);
}

static const struct proc_ops kbl_proc_ops = {
	.proc_open = kbl_proc_open,
	.proc_read = seq_read,
	.proc_write = kbl_proc_write,
	.proc_lseek = seq_lseek,
	.proc_release = single_release,
};

static struct dentry *kbl_file_create(const struct kbl_file *f, struct dentry *dir)
{
	return debugfs_create_file(f->name, f->mode, dir, (void *)f, &kbl_file_fops);
}

int kbl_control_init(struct dentry *dir)
{
	unsigned int i;

	kbl_proc = proc_create("kbl", 0600, init_net.proc_net, &kbl_proc_ops);
	if (!kbl_proc)
		return -ENOMEM;
	for (i = 0; i < ARRAY_SIZE(kbl_files); i++)
		kbl_file_create(&kbl_files[i], dir);
	kbl_probes_file = kbl_file_create(&kbl_probes, dir);
	kbl_control_file = kbl_file_create(&kbl_control, dir);
	return 0;
}

/* Remove the files through which recording could still be started. */
void kbl_control_shut(void)
{
	proc_remove(kbl_proc);
	debugfs_remove(kbl_control_file);
	debugfs_remove(kbl_probes_file);
}
