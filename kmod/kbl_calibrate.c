// SPDX-License-Identifier: GPL-2.0-only
/*
 * Measures what the probes cost.  The module has functions that do nothing.  They are probed
 * like any other function, and called with and without their probes.  The method, and the tau
 * and n values, are those of NetSlice (Fudan, 2001).
 *
 * Each round runs with interrupts off and records into a buffer of its own, so nothing of it
 * reaches the log.  The median of many rounds is kept.
 */
#include <linux/mm.h>
#include <linux/relay.h>
#include <linux/slab.h>
#include <linux/sort.h>
#include <linux/timekeeping.h>

#include "kbl_calibrate.h"

static struct kbl_calibration kbl_calibration;

static void kbl_cal_free(struct kbl_cal *cal)
{
	unsigned int i;

	kvfree(cal->data);
	kfree_skb(cal->skb);
	for (i = 0; i < KBL_CAL_FUNCTIONS; i++)
		kfree(cal->targets[i]);
	kvfree(cal);
}

/* A round fills only a fraction of a sub-buffer, so it never switches. */
static struct kbl_cal *kbl_cal_alloc(size_t size)
{
	struct kbl_cal *cal = kvzalloc(sizeof(*cal), GFP_KERNEL);
	bool whole = true;
	unsigned int i;

	if (!cal)
		return NULL;
	for (i = 0; i < KBL_CAL_FUNCTIONS; i++) {
		cal->targets[i] = kbl_cal_target(i);
		whole &= cal->targets[i] != NULL;
	}
	cal->skb = kbl_cal_packet();
	cal->size = size;
	cal->data = kvzalloc(size, GFP_KERNEL);
	if (whole && cal->skb && cal->data)
		return cal;
	kbl_cal_free(cal);
	return NULL;
}

static bool kbl_cal_rounds(struct kbl_cal *cal, bool skb)
{
	unsigned int i;

	for (i = 0; i < KBL_CAL_WARM; i++)
		kbl_cal_round(cal, skb, &cal->rounds[skb][0]);
	for (i = 0; i < KBL_CAL_ROUNDS; i++) {
		if (!kbl_cal_round(cal, skb, &cal->rounds[skb][i]))
			return false;
		cond_resched();
	}
	return true;
}

static int kbl_cal_compare(const void *a, const void *b)
{
	s64 x = *(const s64 *)a, y = *(const s64 *)b;

	return x < y ? -1 : x > y;
}

/* The median over all rounds of the s64 at @offset; never below 0. */
static u64 kbl_cal_median(struct kbl_cal *cal, bool skb, size_t offset)
{
	unsigned int i;

	for (i = 0; i < KBL_CAL_ROUNDS; i++)
		cal->sorted[i] = *(s64 *)((u8 *)&cal->rounds[skb][i] + offset);
	sort(cal->sorted, KBL_CAL_ROUNDS, sizeof(s64), kbl_cal_compare, NULL);
	return max_t(s64, cal->sorted[KBL_CAL_ROUNDS / 2], 0);
}

#define KBL_CAL_MEDIAN(cal, skb, field, unit) \
	kbl_cal_median(cal, skb, offsetof(struct kbl_cal_round, field[unit]))

static void kbl_cal_keep(struct kbl_cal *cal, struct kbl_calibration *to)
{
	*to = (struct kbl_calibration){
		.tau_empty = KBL_CAL_MEDIAN(cal, false, empty, KBL_CAL_NS),
		.tau_pair = KBL_CAL_MEDIAN(cal, false, pair, KBL_CAL_NS),
		.tau_nested = KBL_CAL_MEDIAN(cal, false, nested, KBL_CAL_NS),
		.n_empty = KBL_CAL_MEDIAN(cal, false, empty, KBL_CAL_EVENTS),
		.n_pair = KBL_CAL_MEDIAN(cal, false, pair, KBL_CAL_EVENTS),
		.n_nested = KBL_CAL_MEDIAN(cal, false, nested, KBL_CAL_EVENTS),
		.tau_skb_empty = KBL_CAL_MEDIAN(cal, true, empty, KBL_CAL_NS),
		.tau_skb_pair = KBL_CAL_MEDIAN(cal, true, pair, KBL_CAL_NS),
		.tau_skb_nested = KBL_CAL_MEDIAN(cal, true, nested, KBL_CAL_NS),
		.n_skb_empty = KBL_CAL_MEDIAN(cal, true, empty, KBL_CAL_EVENTS),
		.n_skb_pair = KBL_CAL_MEDIAN(cal, true, pair, KBL_CAL_EVENTS),
		.n_skb_nested = KBL_CAL_MEDIAN(cal, true, nested, KBL_CAL_EVENTS),
		.mono_ns = ktime_get_mono_fast_ns(),
		.rounds = KBL_CAL_ROUNDS,
		.mechanism = cal->targets[KBL_CAL_LEAF]->mechanism,
	};
}

/* The module records until this returns, but no other function is armed. */
static int kbl_cal_run(struct kbl_cal *cal)
{
	const struct kbl_backend *backend = kbl_backend_chosen();
	bool whole = true;
	unsigned int i;
	int err = 0;

	if (!backend)
		return -EOPNOTSUPP;
	kbl_calls_reset();
	backend->arm(cal->targets, KBL_CAL_FUNCTIONS);
	for (i = 0; i < KBL_CAL_FUNCTIONS; i++)
		err = err ?: cal->targets[i]->error;
	if (!err) {
		kbl_filter_hold(true);
		WRITE_ONCE(kbl_active, true);
		whole = kbl_cal_rounds(cal, false) && kbl_cal_rounds(cal, true);
		WRITE_ONCE(kbl_active, false);
		kbl_filter_hold(false);
	}
	if (!err && whole)
		kbl_cal_keep(cal, &kbl_calibration);
	backend->disarm(cal->targets, KBL_CAL_FUNCTIONS);
	kbl_calls_reset();
	return whole ? err : -EIO;
}

static void kbl_cal_hits_clear(void)
{
	unsigned int i;
	int cpu;

	for_each_possible_cpu(cpu)
		for (i = 0; i < KBL_CAL_FUNCTIONS; i++)
			per_cpu(kbl_cpu, cpu)->hits[KBL_MAX_PROBES - 1 - i] = 0;
}

/*
 * Measure again, with the current back end and counter and without filter; under kbl_lock and
 * while nothing is recorded.  If it fails, the old values stay.
 */
int kbl_calibrate(void)
{
	struct kbl_cpu *c = raw_cpu_read(kbl_cpu);
	struct kbl_cal *cal;
	int err;

	if (kbl_active)
		return -EBUSY;
	if (!c->buf || c->buf->chan->subbuf_size < KBL_CAL_SPACE)
		return -ENOSPC;
	cal = kbl_cal_alloc(c->buf->chan->subbuf_size);
	err = cal ? kbl_cal_run(cal) : -ENOMEM;
	if (cal)
		kbl_cal_free(cal);
	kbl_cal_hits_clear();
	if (err)
		pr_warn("kbl: cannot measure what the probes cost: %d\n", err);
	return err;
}

#define KBL_CAL_VALUE(name) { #name, offsetof(struct kbl_calibration, name) }
static const struct {
	const char *name;
	size_t offset;
} kbl_cal_values[] = {
	KBL_CAL_VALUE(tau_empty), KBL_CAL_VALUE(tau_pair), KBL_CAL_VALUE(tau_nested),
	KBL_CAL_VALUE(n_empty), KBL_CAL_VALUE(n_pair), KBL_CAL_VALUE(n_nested),
	KBL_CAL_VALUE(tau_skb_empty), KBL_CAL_VALUE(tau_skb_pair), KBL_CAL_VALUE(tau_skb_nested),
	KBL_CAL_VALUE(n_skb_empty), KBL_CAL_VALUE(n_skb_pair), KBL_CAL_VALUE(n_skb_nested),
	KBL_CAL_VALUE(mono_ns),
};

static const char kbl_cal_help[] =
	"# What a probe costs: tau in ns, n in events of the counter, 0 = not measured.\n"
	"# A call that took T with K probed calls below it: T - empty - K * nested.\n"
	"# Write calibrate to control to measure again.\n";

void kbl_calibration_show(struct seq_file *m)
{
	unsigned int i;

	seq_puts(m, kbl_cal_help);
	for (i = 0; i < ARRAY_SIZE(kbl_cal_values); i++)
		seq_printf(m, "%s %llu\n", kbl_cal_values[i].name,
			   *(u64 *)((u8 *)&kbl_calibration + kbl_cal_values[i].offset));
	seq_printf(m, "rounds %u\nmechanism %u\n", kbl_calibration.rounds,
		   kbl_calibration.mechanism);
}
