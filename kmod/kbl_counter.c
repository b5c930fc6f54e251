// SPDX-License-Identifier: GPL-2.0-only
/*
 * Counts an event of the CPU's performance counters in each call.  Every CPU has a pinned
 * counter, which is created and released as the CPU comes online and goes offline.
 */
#include <linux/cpuhotplug.h>
#include <linux/kernel.h>
#include <linux/mutex.h>

#include "kbl_arch_counter.h"
#include "kbl_internal.h"

/* Flags in struct kbl_ext_counter.event, above the number of the event. */
#define KBL_COUNTER_RAW 0x80000000u
#define KBL_COUNTER_SOFTWARE 0x40000000u

#define KBL_COUNTER_WORDS \
	"instructions cycles cache-misses branch-misses raw:0xNNN cpu-clock off"

struct kbl_counter_kind {
	const char *name;
	u32 type;		/* PERF_TYPE_* */
	u32 config;
};

static const struct kbl_counter_kind kbl_counter_kinds[] = {
	{ "instructions", PERF_TYPE_HARDWARE, PERF_COUNT_HW_INSTRUCTIONS },
	{ "cycles", PERF_TYPE_HARDWARE, PERF_COUNT_HW_CPU_CYCLES },
	{ "cache-misses", PERF_TYPE_HARDWARE, PERF_COUNT_HW_CACHE_MISSES },
	{ "branch-misses", PERF_TYPE_HARDWARE, PERF_COUNT_HW_BRANCH_MISSES },
	{ "cpu-clock", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_CPU_CLOCK },
};

struct kbl_counter {
	struct perf_event *event;	/* NULL: none on this CPU */
	u32 shift;		/* argument of kbl_arch_count() */
};

DEFINE_STATIC_KEY_FALSE(kbl_counter_on);

static DEFINE_PER_CPU(struct kbl_counter, kbl_counters);
static DEFINE_MUTEX(kbl_counter_lock);
static struct kbl_counter_kind kbl_counter_now;	/* name NULL: off */
static char kbl_counter_raw[24];
static int kbl_counter_state;	/* state of CPU hotplug, while on */
static bool kbl_counter_starting;

/* The count on this CPU, interrupts off; 0: no counter here. */
u64 kbl_counter_read(void)
{
	struct kbl_counter *counter = this_cpu_ptr(&kbl_counters);
	struct perf_event *event = READ_ONCE(counter->event);

	/* Add one, so that 0 can mean none; only differences are recorded. */
	return event ? kbl_arch_count(event, counter->shift) + 1 : 0;
}
NOKPROBE_SYMBOL(kbl_counter_read);

/* What is counted, encoded as struct kbl_ext_counter.event. */
u32 kbl_counter_event(void)
{
	switch (kbl_counter_now.type) {
	case PERF_TYPE_RAW:
		return kbl_counter_now.config | KBL_COUNTER_RAW;
	case PERF_TYPE_SOFTWARE:
		return kbl_counter_now.config | KBL_COUNTER_SOFTWARE;
	}
	return kbl_counter_now.config;
}
NOKPROBE_SYMBOL(kbl_counter_event);

/* Create a counter for kernel mode only; an ERR_PTR if it cannot count now. */
static struct perf_event *kbl_counter_create(const struct kbl_counter_kind *kind, int cpu)
{
	struct perf_event_attr attr = {
		.type = kind->type,
		.config = kind->config,
		.size = sizeof(attr),
		.pinned = 1,
		.exclude_user = kind->type != PERF_TYPE_SOFTWARE,
	};
	struct perf_event *event = perf_event_create_kernel_counter(&attr, cpu, NULL, NULL, NULL);

	if (IS_ERR(event) || READ_ONCE(event->state) == PERF_EVENT_STATE_ACTIVE)
		return event;
	/* A pinned event is inactive if there was no free register. */
	perf_event_release_kernel(event);
	return ERR_PTR(-EBUSY);
}

/*
 * Runs on the CPU itself.  A CPU that comes online later may fail to get a counter: its calls
 * have no count.
 */
static int kbl_counter_online(unsigned int cpu)
{
	struct kbl_counter *counter = per_cpu_ptr(&kbl_counters, cpu);
	struct perf_event *event = kbl_counter_create(&kbl_counter_now, cpu);

	if (IS_ERR(event)) {
		pr_warn("kbl: counter: cpu %u does not count %s: %ld\n", cpu,
			kbl_counter_now.name, PTR_ERR(event));
		return kbl_counter_starting ? PTR_ERR(event) : 0;
	}
	counter->shift = kbl_arch_count_shift(event);
	/* Only this CPU reads it, with interrupts off: never between these two writes. */
	WRITE_ONCE(counter->event, event);
	return 0;
}

static int kbl_counter_offline(unsigned int cpu)
{
	struct kbl_counter *counter = per_cpu_ptr(&kbl_counters, cpu);
	struct perf_event *event = counter->event;

	/* This runs on the same CPU, so no handler is reading. */
	WRITE_ONCE(counter->event, NULL);
	if (event)
		perf_event_release_kernel(event);
	return 0;
}

static void kbl_counter_stop(void)
{
	if (!kbl_counter_now.name)
		return;
	kbl_detour_switch(&kbl_counter_on, false);
	cpuhp_remove_state(kbl_counter_state);
	kbl_counter_now = (struct kbl_counter_kind){};
}

static int kbl_counter_start(const struct kbl_counter_kind *kind)
{
	int state;

	kbl_counter_now = *kind;
	kbl_counter_starting = true;
	state = cpuhp_setup_state(CPUHP_AP_ONLINE_DYN, "net/kbl:counter", kbl_counter_online,
				  kbl_counter_offline);
	kbl_counter_starting = false;
	if (state < 0) {
		kbl_counter_now = (struct kbl_counter_kind){};
		return state;
	}
	kbl_counter_state = state;
	kbl_detour_switch(&kbl_counter_on, true);
	return 0;
}

static int kbl_counter_parse(const char *text, struct kbl_counter_kind *kind)
{
	unsigned int i;
	u32 config;

	for (i = 0; i < ARRAY_SIZE(kbl_counter_kinds); i++) {
		if (sysfs_streq(text, kbl_counter_kinds[i].name)) {
			*kind = kbl_counter_kinds[i];
			return 0;
		}
	}
	if (strncmp(text, "raw:", 4) || kstrtou32(text + 4, 0, &config) ||
	    config >= KBL_COUNTER_RAW || !config)
		return -EINVAL;
	*kind = (struct kbl_counter_kind){ kbl_counter_raw, PERF_TYPE_RAW, config };
	return 0;
}

/* Check that the event can be counted, before the current counter is released. */
static int kbl_counter_try(const struct kbl_counter_kind *kind, const char *text)
{
	struct perf_event *event = kbl_counter_create(kind, raw_smp_processor_id());
	int err = PTR_ERR_OR_ZERO(event);

	if (!err) {
		perf_event_release_kernel(event);
		return 0;
	}
	if (err != -ENOENT && err != -ENODEV && err != -EOPNOTSUPP) {
		pr_warn("kbl: counter: %s cannot be counted now: error %d\n", text, err);
		return err;
	}
	pr_warn("kbl: counter: %s cannot be counted here: no PMU, or a hypervisor hides it\n",
		text);
	return -EOPNOTSUPP;
}

static int kbl_counter_change(const struct kbl_counter_kind *kind)
{
	kbl_counter_stop();
	snprintf(kbl_counter_raw, sizeof(kbl_counter_raw), "raw:0x%x", kind->config);
	return kind->name ? kbl_counter_start(kind) : 0;
}

static bool kbl_counter_same(const struct kbl_counter_kind *kind)
{
	return !kind->name == !kbl_counter_now.name && kind->type == kbl_counter_now.type &&
	       kind->config == kbl_counter_now.config;
}

/*
 * Set the counter to a word of the help text.  Not while recording: a call must not begin
 * without a counter and end with one.  Returns 1 if the counter changed, 0 if it did not.
 */
int kbl_counter_set(const char *text)
{
	struct kbl_counter_kind kind = {};
	int err = 0;

	if (!sysfs_streq(text, "off"))
		err = kbl_counter_parse(text, &kind);
	if (err) {
		pr_warn("kbl: counter: '%*pE' is not one of " KBL_COUNTER_WORDS "\n",
			(int)min_t(size_t, strlen(text), 64), text);
		return err;
	}
	if (READ_ONCE(kbl_active))
		return -EBUSY;
	mutex_lock(&kbl_counter_lock);
	if (!kbl_counter_same(&kind)) {
		err = kind.name ? kbl_counter_try(&kind, text) : 0;
		if (!err)
			err = kbl_counter_change(&kind) ?: 1;
	}
	mutex_unlock(&kbl_counter_lock);
	return err;
}

static const char kbl_counter_help[] =
	"# Write one of: " KBL_COUNTER_WORDS ".\n"
	"# It counts in each call, in kernel mode only.  It cannot be changed while recording.\n";

void kbl_counter_show(struct seq_file *m)
{
	seq_puts(m, kbl_counter_help);
	mutex_lock(&kbl_counter_lock);
	seq_printf(m, "%s\n", kbl_counter_now.name ?: "off");
	mutex_unlock(&kbl_counter_lock);
}
