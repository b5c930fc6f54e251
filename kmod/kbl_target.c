// SPDX-License-Identifier: GPL-2.0-only
/* The list of functions to probe, and how they are armed. */
#include <linux/glob.h>
#include <linux/mutex.h>
#include <linux/slab.h>
#include <linux/string.h>
#include <linux/timekeeping.h>

#include "kbl_internal.h"

static struct kbl_target *kbl_targets[KBL_MAX_PROBES];
static unsigned int kbl_nr_targets;
static char *kbl_backend_name = "auto";

module_param_named(backend, kbl_backend_name, charp, 0444);
MODULE_PARM_DESC(backend, "auto, source, fprobe or kretprobe");

static const struct kbl_backend *const kbl_backends[] = {
	&kbl_source_backend,
	&kbl_fprobe_backend,
	&kbl_kretprobe_backend,
};

/*
 * Find the address at which the kernel would put a probe on that name, without arming it; or
 * return its error.
 */
static int kbl_resolve(const char *name, unsigned long *addr)
{
	struct kprobe kp = { .symbol_name = name, .flags = KPROBE_FLAG_DISABLED };
	int err = register_kprobe(&kp);

	if (err)
		return err;
	*addr = (unsigned long)kp.addr;
	unregister_kprobe(&kp);
	return 0;
}

/* Find the address of a target that was given by name only. */
static int kbl_target_find(struct kbl_target *t)
{
	int err = kbl_resolve(t->name, &t->addr);

	if (err)
		t->addr = kbl_source_address(t->name);
	return t->addr ? 0 : err;
}

/* Add one line, without newline. */
int kbl_target_add(char *line)
{
	struct kbl_target *t;

	if (kbl_nr_targets == KBL_MAX_PROBES)
		return -ENOSPC;
	t = kbl_target_parse(line);
	if (!t)
		return -EINVAL;
	if (kbl_target_refused(t)) {
		kfree(t);
		return -EDEADLK;
	}
	if (!t->addr)
		t->error = kbl_target_find(t);
	kbl_target_number(t, kbl_nr_targets);
	kbl_targets[kbl_nr_targets++] = t;
	return 0;
}

void kbl_targets_free(void)
{
	while (kbl_nr_targets)
		kfree(kbl_targets[--kbl_nr_targets]);
	kbl_fprobe_forget();
}

static bool kbl_backend_wanted(const struct kbl_backend *backend)
{
	return backend->arm && (!strcmp(kbl_backend_name, "auto") ||
				!strcmp(kbl_backend_name, backend->name));
}

/* The back end that is tried first; NULL: this kernel has none of that name. */
const struct kbl_backend *kbl_backend_chosen(void)
{
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(kbl_backends); i++)
		if (kbl_backend_wanted(kbl_backends[i]))
			return kbl_backends[i];
	return NULL;
}

/*
 * The targets to arm now; the caller frees the array.  -EBUSY: another target already records
 * that function's calls.
 */
static struct kbl_target **kbl_targets_wanting(unsigned int *nr)
{
	struct kbl_target **some = kvcalloc(kbl_nr_targets + 1, sizeof(*some), GFP_KERNEL);
	unsigned int i;

	*nr = 0;
	for (i = 0; some && i < kbl_nr_targets; i++) {
		struct kbl_target *t = kbl_targets[i];

		if (!t->enabled || t->mechanism || !t->addr || t->error == -EBUSY)
			continue;
		t->error = 0;
		some[(*nr)++] = t;
	}
	return some;
}

static void kbl_arm_by(const struct kbl_backend *backend)
{
	struct kbl_target **some;
	unsigned int nr;

	if (!kbl_backend_wanted(backend))
		return;
	some = kbl_targets_wanting(&nr);
	if (some && nr)
		backend->arm(some, nr);
	kvfree(some);
}

/* Are the returns of all functions with packets hooked by rethooks? */
static bool kbl_targets_hooked(void)
{
	unsigned int i;

	for (i = 0; i < kbl_nr_targets; i++) {
		const struct kbl_target *t = kbl_targets[i];

		if (t->inner || !t->mechanism)
			continue;
		if (t->mechanism == KBL_BY_SOURCE || !IS_ENABLED(CONFIG_RETHOOK) ||
		    (t->mechanism == KBL_BY_KRETPROBE && !IS_ENABLED(CONFIG_KRETPROBE_ON_RETHOOK)))
			return false;
	}
	return true;
}

/* Returns how many are armed. */
int kbl_targets_arm(void)
{
	unsigned int i;

	for (i = 0; i < kbl_nr_targets; i++)
		if (kbl_targets[i]->error == -EBUSY)
			kbl_targets[i]->error = 0;
	for (i = 0; i < ARRAY_SIZE(kbl_backends); i++)
		kbl_arm_by(kbl_backends[i]);
	WRITE_ONCE(kbl_inner_hooked, kbl_targets_hooked());
	return kbl_targets_armed();
}

void kbl_targets_disarm(void)
{
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(kbl_backends); i++)
		if (kbl_backends[i]->disarm)
			kbl_backends[i]->disarm(kbl_targets, kbl_nr_targets);
}

unsigned int kbl_targets_armed(void)
{
	unsigned int i, armed = 0;

	for (i = 0; i < kbl_nr_targets; i++)
		armed += kbl_targets[i]->mechanism && kbl_targets[i]->enabled;
	return armed;
}

/* Arm by probes in the source if possible, the others by kretprobes. */
static void kbl_arm_alone(struct kbl_target **targets, unsigned int nr)
{
	unsigned int i, rest = 0;

	for (i = 0; i < nr; i++)
		targets[i]->error = 0;
	if (nr && kbl_backend_wanted(&kbl_source_backend))
		kbl_source_backend.arm(targets, nr);
	for (i = 0; i < nr; i++)
		if (!targets[i]->mechanism && targets[i]->error != -EBUSY)
			targets[rest++] = targets[i];
	if (rest && strcmp(kbl_backend_name, kbl_source_backend.name))
		kbl_kretprobe_backend.arm(targets, rest);
}

static void kbl_disarm_alone(struct kbl_target **targets, unsigned int nr)
{
	if (nr && kbl_source_backend.disarm)
		kbl_source_backend.disarm(targets, nr);
	if (nr)
		kbl_kretprobe_backend.disarm(targets, nr);
}

/*
 * Works while recording, too.  Targets that one fprobe armed together are only ignored, or used
 * again.  Others are armed or disarmed individually, unless another target records the function
 * already.
 */
int kbl_targets_enable(const char *glob, bool enable)
{
	struct kbl_target **some = kvcalloc(kbl_nr_targets + 1, sizeof(*some), GFP_KERNEL);
	unsigned int i, nr = 0, found = 0;

	if (!some)
		return -ENOMEM;
	for (i = 0; i < kbl_nr_targets; i++) {
		struct kbl_target *t = kbl_targets[i];

		if (!glob_match(glob, t->name))
			continue;
		found++;
		WRITE_ONCE(t->enabled, enable);
		/* Pairs with kbl_map_search(). */
		smp_mb();
		if (!enable)
			WRITE_ONCE(t->ip, 0);
		if (t->addr && t->error != -EBUSY && enable == !t->mechanism)
			some[nr++] = t;
	}
	if (kbl_active && enable) {
		WRITE_ONCE(kbl_inner_hooked, false);
		kbl_arm_alone(some, nr);
		WRITE_ONCE(kbl_inner_hooked, kbl_targets_hooked());
	} else if (kbl_active) {
		kbl_disarm_alone(some, nr);
	}
	kvfree(some);
	return found ? 0 : -ENOENT;
}

static const struct kbl_backend *kbl_backend_of(u8 mechanism)
{
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(kbl_backends); i++)
		if (mechanism && kbl_backends[i]->mechanism == mechanism)
			return kbl_backends[i];
	return NULL;
}

static u64 kbl_target_missed(const struct kbl_target *t)
{
	const struct kbl_backend *backend = kbl_backend_of(t->mechanism);

	return t->missed + (backend ? backend->missed(t) : 0);
}

/* Of the functions without an skb, or of all others. */
u64 kbl_targets_missed(bool inner)
{
	u64 missed = kbl_fprobe_missed(inner);
	unsigned int i;

	for (i = 0; i < kbl_nr_targets; i++)
		if (kbl_targets[i]->inner == inner)
			missed += kbl_target_missed(kbl_targets[i]);
	return missed;
}

static void kbl_target_show(struct seq_file *m, const struct kbl_target *t)
{
	const struct kbl_backend *backend = kbl_backend_of(t->was);
	unsigned int i;
	u64 hits = 0;
	int cpu;

	for_each_possible_cpu(cpu)
		hits += per_cpu(kbl_cpu, cpu)->hits[t->id];
	seq_printf(m, "%u 0x%lx %d %d %llu %llu %s ", t->id, t->addr,
		   t->mechanism && t->enabled, t->error, hits, kbl_target_missed(t),
		   backend ? backend->name : "-");
	for (i = 0; i < t->nr_carriers; i++) {
		seq_printf(m, "%s%s@", i ? "," : "", kbl_kinds[t->carrier[i] >> 4]);
		if ((t->carrier[i] & 15) == KBL_AT_RET)
			seq_puts(m, "ret");
		else
			seq_printf(m, "%u", t->carrier[i] & 15);
	}
	seq_printf(m, "%s %s %s\n", t->inner ? "inner" : t->nr_carriers ? "" : "-", t->name,
		   t->module);
}

void kbl_targets_show(struct seq_file *m)
{
	unsigned int i;

	if (kbl_fprobe_backend.arm)
		seq_printf(m, "# hits that fprobe missed, all functions together: %llu\n",
			   kbl_fprobe_missed(false) + kbl_fprobe_missed(true));
	seq_puts(m, "# id addr armed error hits missed mechanism carriers name module\n");
	for (i = 0; i < kbl_nr_targets; i++)
		kbl_target_show(m, kbl_targets[i]);
}

/*
 * Only functions that missed hits are shown, since the recorder reads this some ten times a
 * second.  A hit that is not counted here came after "since", a counted one came before
 * "until".  Functions without an skb are left out: what they missed concerns no packet.
 */
void kbl_missed_show(struct seq_file *m)
{
	unsigned int i;
	u64 missed;

	seq_puts(m, "# function's id and number of missed hits; any: the function is unknown\n");
	seq_printf(m, "since %llu\n", ktime_get_mono_fast_ns());
	/* The kernel's counts are read after the first time ... */
	smp_mb();
	for (i = 0; i < kbl_nr_targets; i++) {
		missed = kbl_target_missed(kbl_targets[i]);
		if (missed && !kbl_targets[i]->inner)
			seq_printf(m, "%u %llu\n", kbl_targets[i]->id, missed);
	}
	missed = kbl_fprobe_missed(false);
	if (missed)
		seq_printf(m, "any %llu\n", missed);
	/* ... and before the second. */
	smp_mb();
	seq_printf(m, "until %llu\n", ktime_get_mono_fast_ns());
}
