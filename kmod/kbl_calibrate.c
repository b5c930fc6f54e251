// SPDX-License-Identifier: GPL-2.0-only
/*
 * What the probes cost: functions of our own which do nothing are probed as
 * any other, and called with and without their probes.  After NetSlice (Fudan,
 * 2001), whose tau and n values these are.
 *
 * Each round runs with interrupts off and records into a buffer of its own, so
 * nothing of it reaches the log; the median of many rounds is kept.
 */
#include <linux/if_ether.h>
#include <linux/ip.h>
#include <linux/mutex.h>
#include <linux/relay.h>
#include <linux/slab.h>
#include <linux/sort.h>
#include <linux/string.h>
#include <linux/tcp.h>
#include <linux/timekeeping.h>

#include "kbl_arch.h"
#include "kbl_internal.h"

#define KBL_CAL_ROUNDS 101
#define KBL_CAL_WARM 8		/* rounds before, not kept */
#define KBL_CAL_CALLS 8		/* calls in a round, each way */
#define KBL_CAL_SPACE 1024	/* more than the records of a round */

/* Four probed functions; the odd ones carry a packet. */
enum kbl_cal_function {
	KBL_CAL_LEAF,
	KBL_CAL_LEAF_SKB,
	KBL_CAL_OUTER,
	KBL_CAL_OUTER_SKB,
	KBL_CAL_FUNCTIONS
};

/* What is measured: of calls without and with a packet, in ns and in the counter's events. */
enum kbl_cal_unit {
	KBL_CAL_NS,
	KBL_CAL_EVENTS,
	KBL_CAL_UNITS
};

struct kbl_cal_round {
	s64 empty[KBL_CAL_UNITS];
	s64 pair[KBL_CAL_UNITS];
	s64 nested[KBL_CAL_UNITS];
};

struct kbl_cal {
	struct kbl_target *targets[KBL_CAL_FUNCTIONS];
	struct sk_buff *skb;
	struct rchan_buf *buf;	/* records go here, and no further */
	struct kbl_cal_round rounds[2][KBL_CAL_ROUNDS];	/* without, with a packet */
	s64 sorted[KBL_CAL_ROUNDS];
};

static struct kbl_calibration kbl_calibration;

/* A number of its own in each, or the compiler would make one function of them. */
static noinline __noclone void kbl_cal_bare(struct sk_buff *skb)
{
	asm volatile("" : : "r" (skb), "i" (0) : "memory");
}

static noinline __noclone void kbl_cal_leaf(struct sk_buff *skb)
{
	asm volatile("" : : "r" (skb), "i" (1) : "memory");
}

static noinline __noclone void kbl_cal_leaf_skb(struct sk_buff *skb)
{
	asm volatile("" : : "r" (skb), "i" (2) : "memory");
}

static __always_inline void kbl_cal_calls(void (*fn)(struct sk_buff *), struct sk_buff *skb)
{
	unsigned int i;

	for (i = 0; i < KBL_CAL_CALLS; i++)
		fn(skb);
}

static noinline __noclone void kbl_cal_outer(struct sk_buff *skb, bool probed)
{
	if (probed)
		kbl_cal_calls(kbl_cal_leaf, skb);
	else
		kbl_cal_calls(kbl_cal_bare, skb);
}

static noinline __noclone void kbl_cal_outer_skb(struct sk_buff *skb, bool probed)
{
	if (probed)
		kbl_cal_calls(kbl_cal_leaf_skb, skb);
	else
		kbl_cal_calls(kbl_cal_bare, skb);
}

static const struct {
	const char *name;
	unsigned long addr;
	const char *carrier;
} kbl_cal_functions[KBL_CAL_FUNCTIONS] = {
	{ "kbl_cal_leaf", (unsigned long)kbl_cal_leaf, "" },
	{ "kbl_cal_leaf_skb", (unsigned long)kbl_cal_leaf_skb, "skb@0" },
	{ "kbl_cal_outer", (unsigned long)kbl_cal_outer, "" },
	{ "kbl_cal_outer_skb", (unsigned long)kbl_cal_outer_skb, "skb@0" },
};

static struct kbl_target *kbl_cal_target(unsigned int i)
{
	struct kbl_target *t;
	char line[80];

	snprintf(line, sizeof(line), "%s 0x%lx %s void", kbl_cal_functions[i].name,
		 kbl_cal_functions[i].addr, kbl_cal_functions[i].carrier);
	t = kbl_target_parse(line);
	/* The last numbers: the list rarely reaches them, and it is not armed now. */
	if (t)
		kbl_target_number(t, KBL_MAX_PROBES - 1 - i);
	return t;
}

/* A segment as it stands in the send path, never sent. */
static struct sk_buff *kbl_cal_packet(void)
{
	struct sk_buff *skb = alloc_skb(256, GFP_KERNEL);
	struct tcphdr *th;
	struct iphdr *iph;

	if (!skb)
		return NULL;
	skb_reserve(skb, 128);
	th = skb_push(skb, sizeof(*th));
	memset(th, 0, sizeof(*th));
	th->doff = sizeof(*th) / 4;
	skb_reset_transport_header(skb);
	iph = skb_push(skb, sizeof(*iph));
	memset(iph, 0, sizeof(*iph));
	iph->version = 4;
	iph->ihl = sizeof(*iph) / 4;
	iph->protocol = IPPROTO_TCP;
	iph->tot_len = htons(skb->len);
	skb_reset_network_header(skb);
	skb->protocol = htons(ETH_P_IP);
	return skb;
}

static void kbl_cal_free(struct kbl_cal *cal)
{
	unsigned int i;

	if (cal->buf)
		kvfree(cal->buf->data);
	kfree(cal->buf);
	kfree_skb(cal->skb);
	for (i = 0; i < KBL_CAL_FUNCTIONS; i++)
		kfree(cal->targets[i]);
	kvfree(cal);
}

/*
 * One sub-buffer that looks like the CPU's own.  A round fills a fraction of it,
 * so it is never switched and nothing but data and offset is ever used.
 */
static struct rchan_buf *kbl_cal_buffer(struct rchan *chan)
{
	struct rchan_buf *buf = kzalloc(sizeof(*buf), GFP_KERNEL);

	if (!buf)
		return NULL;
	buf->chan = chan;
	buf->data = kvzalloc(chan->subbuf_size, GFP_KERNEL);
	if (buf->data)
		return buf;
	kfree(buf);
	return NULL;
}

static struct kbl_cal *kbl_cal_alloc(struct rchan *chan)
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
	cal->buf = kbl_cal_buffer(chan);
	if (whole && cal->skb && cal->buf)
		return cal;
	kbl_cal_free(cal);
	return NULL;
}

/* Of the calls of one function in the buffer: how many, and their sums. */
struct kbl_cal_sum {
	unsigned int calls;
	s64 of[KBL_CAL_UNITS];
};

static void kbl_cal_read(const struct rchan_buf *buf, u16 id, struct kbl_cal_sum *sum)
{
	const union kbl_slot *slot = buf->data, *end = buf->data + buf->offset;
	bool mine = false;

	*sum = (struct kbl_cal_sum){};
	for (; slot < end; slot++) {
		if (slot->span.kind == KBL_EXT) {
			if (mine && slot->counter.type == KBL_EXT_COUNTER)
				sum->of[KBL_CAL_EVENTS] += slot->counter.count;
			continue;
		}
		mine = slot->span.kind == KBL_CALL && slot->span.func == id;
		if (mine) {
			sum->calls++;
			sum->of[KBL_CAL_NS] += slot->span.dur;
		}
	}
}

/* What the probes add to the time of a function that is not probed itself. */
static void kbl_cal_pair(struct kbl_cal *cal, bool skb, struct kbl_cal_round *round)
{
	u64 ns[3], events[3];

	ns[0] = ktime_get_mono_fast_ns();
	events[0] = kbl_counter_read();
	kbl_cal_calls(kbl_cal_bare, cal->skb);
	ns[1] = ktime_get_mono_fast_ns();
	events[1] = kbl_counter_read();
	if (skb)
		kbl_cal_calls(kbl_cal_leaf_skb, cal->skb);
	else
		kbl_cal_calls(kbl_cal_leaf, cal->skb);
	ns[2] = ktime_get_mono_fast_ns();
	events[2] = kbl_counter_read();
	round->pair[KBL_CAL_NS] = (s64)(ns[2] - ns[1] - (ns[1] - ns[0])) / KBL_CAL_CALLS;
	round->pair[KBL_CAL_EVENTS] = (s64)(events[2] - events[1] - (events[1] - events[0])) /
				      KBL_CAL_CALLS;
}

static void kbl_cal_outer_call(struct kbl_cal *cal, bool skb, bool probed,
			       struct kbl_cal_sum *sum)
{
	cal->buf->offset = 0;
	if (skb)
		kbl_cal_outer_skb(cal->skb, probed);
	else
		kbl_cal_outer(cal->skb, probed);
	kbl_cal_read(cal->buf, cal->targets[skb ? KBL_CAL_OUTER_SKB : KBL_CAL_OUTER]->id, sum);
}

/* Interrupts are off and the CPU records into cal->buf.  False: a call is missing. */
static bool kbl_cal_once(struct kbl_cal *cal, bool skb, struct kbl_cal_round *round)
{
	u16 leaf = cal->targets[skb ? KBL_CAL_LEAF_SKB : KBL_CAL_LEAF]->id;
	struct kbl_cal_sum leaves, probed, bare;
	unsigned int unit;

	/* Once before, so that thread and packet are told and known. */
	if (skb)
		kbl_cal_leaf_skb(cal->skb);
	else
		kbl_cal_leaf(cal->skb);
	cal->buf->offset = 0;
	kbl_cal_pair(cal, skb, round);
	kbl_cal_read(cal->buf, leaf, &leaves);
	kbl_cal_outer_call(cal, skb, true, &probed);
	kbl_cal_outer_call(cal, skb, false, &bare);
	for (unit = 0; unit < KBL_CAL_UNITS; unit++) {
		round->empty[unit] = leaves.of[unit] / KBL_CAL_CALLS;
		round->nested[unit] = (probed.of[unit] - bare.of[unit]) / KBL_CAL_CALLS;
	}
	return leaves.calls == KBL_CAL_CALLS && probed.calls == 1 && bare.calls == 1;
}

/* On one CPU, whose own buffer is out of reach meanwhile. */
static bool kbl_cal_round(struct kbl_cal *cal, bool skb, struct kbl_cal_round *round)
{
	struct rchan_buf *own;
	struct kbl_cpu *c;
	unsigned long irq;
	u64 written, bytes;
	bool whole;

	local_irq_save(irq);
	c = this_cpu_ptr(kbl_cpus);
	own = c->buf;
	written = c->written;
	bytes = c->bytes;
	c->buf = cal->buf;
	whole = kbl_cal_once(cal, skb, round);
	c->buf = own;
	c->written = written;
	c->bytes = bytes;
	/* Nobody heard what was told of the thread and the packet. */
	memset(c->seen, 0, sizeof(c->seen));
	kbl_forget(c);
	local_irq_restore(irq);
	return whole;
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

/* The median of one s64 at @offset in each round; never below 0. */
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

/* Armed and recording from here to the end; nobody else's function is. */
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
			per_cpu_ptr(kbl_cpus, cpu)->hits[KBL_MAX_PROBES - 1 - i] = 0;
}

/*
 * Measure anew, with the back end and the counter of now and without filter;
 * under kbl_lock and while nothing is recorded.  The old values stay if it fails.
 */
int kbl_calibrate(void)
{
	struct kbl_cpu *c = raw_cpu_ptr(kbl_cpus);
	struct kbl_cal *cal;
	int err;

	if (kbl_active)
		return -EBUSY;
	if (!c->buf || c->buf->chan->subbuf_size < KBL_CAL_SPACE)
		return -ENOSPC;
	cal = kbl_cal_alloc(c->buf->chan);
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
	"# Write calibrate to control to measure anew.\n";

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
