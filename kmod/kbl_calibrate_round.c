// SPDX-License-Identifier: GPL-2.0-only
/*
 * One round of the measurement: functions of the module that do nothing are called with and
 * without their probes, with interrupts off, and record into a buffer that nobody reads.
 */
#include <linux/if_ether.h>
#include <linux/ip.h>
#include <linux/relay.h>
#include <linux/string.h>
#include <linux/tcp.h>
#include <linux/timekeeping.h>
#if __has_include(<linux/kbl_probe.h>)
#include <linux/kbl_probe.h>
#endif

#include "kbl_calibrate.h"

/* Probes as "skbscan instrument" adds them to a function, but with sites that this file defines. */
#if __has_include(<linux/kbl_probe.h>)
#define KBL_CAL_SITE(i)	[i] = {						\
	.key = STATIC_KEY_FALSE_INIT, .magic = KBL_SITE_MAGIC,		\
	.carriers = KBL_SITE_SKB, .name = "kbl_cal",			\
}
static struct kbl_site kbl_cal_sites[KBL_CAL_FUNCTIONS] = {
	KBL_CAL_SITE(KBL_CAL_LEAF),
	KBL_CAL_SITE(KBL_CAL_LEAF_SKB),
	KBL_CAL_SITE(KBL_CAL_OUTER),
	KBL_CAL_SITE(KBL_CAL_OUTER_SKB),
};
#define KBL_CAL_SITE_OF(i) (&kbl_cal_sites[i])
#define KBL_CAL_ENTER(i, skb) KBL_ENTERED(&kbl_cal_sites[i], skb)
#define KBL_CAL_LEAVE(i) KBL_LEFT(&kbl_cal_sites[i])
#else
#define KBL_CAL_SITE_OF(i) NULL
#define KBL_CAL_ENTER(i, skb)
#define KBL_CAL_LEAVE(i)
#endif

/* Each function has a number of its own, or the compiler would merge them. */
static noinline __noclone void kbl_cal_bare(struct sk_buff *skb)
{
	asm volatile("" : : "r" (skb), "i" (0) : "memory");
}

static noinline __noclone void kbl_cal_leaf(struct sk_buff *skb)
{
	KBL_CAL_ENTER(KBL_CAL_LEAF, skb);
	asm volatile("" : : "r" (skb), "i" (1) : "memory");
	KBL_CAL_LEAVE(KBL_CAL_LEAF);
}

static noinline __noclone void kbl_cal_leaf_skb(struct sk_buff *skb)
{
	KBL_CAL_ENTER(KBL_CAL_LEAF_SKB, skb);
	asm volatile("" : : "r" (skb), "i" (2) : "memory");
	KBL_CAL_LEAVE(KBL_CAL_LEAF_SKB);
}

static __always_inline void kbl_cal_calls(void (*fn)(struct sk_buff *), struct sk_buff *skb)
{
	unsigned int i;

	for (i = 0; i < KBL_CAL_CALLS; i++)
		fn(skb);
}

static noinline __noclone void kbl_cal_outer(struct sk_buff *skb, bool probed)
{
	KBL_CAL_ENTER(KBL_CAL_OUTER, skb);
	if (probed)
		kbl_cal_calls(kbl_cal_leaf, skb);
	else
		kbl_cal_calls(kbl_cal_bare, skb);
	KBL_CAL_LEAVE(KBL_CAL_OUTER);
}

static noinline __noclone void kbl_cal_outer_skb(struct sk_buff *skb, bool probed)
{
	KBL_CAL_ENTER(KBL_CAL_OUTER_SKB, skb);
	if (probed)
		kbl_cal_calls(kbl_cal_leaf_skb, skb);
	else
		kbl_cal_calls(kbl_cal_bare, skb);
	KBL_CAL_LEAVE(KBL_CAL_OUTER_SKB);
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

struct kbl_target *kbl_cal_target(unsigned int i)
{
	struct kbl_target *t;
	char line[80];

	snprintf(line, sizeof(line), "%s 0x%lx %s void", kbl_cal_functions[i].name,
		 kbl_cal_functions[i].addr, kbl_cal_functions[i].carrier);
	t = kbl_target_parse(line);
	if (!t)
		return NULL;
	/* Use the last ids: the list rarely reaches them, and it is not armed now. */
	kbl_target_number(t, KBL_MAX_PROBES - 1 - i);
	t->site = KBL_CAL_SITE_OF(i);
	return t;
}

/* A TCP segment as in the send path; it is never sent. */
struct sk_buff *kbl_cal_packet(void)
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

/* Number of calls of one function in the buffer, and their sums. */
struct kbl_cal_sum {
	unsigned int calls;
	s64 of[KBL_CAL_UNITS];
};

static void kbl_cal_read(const struct kbl_cal *cal, u16 id, struct kbl_cal_sum *sum)
{
	const union kbl_slot *slot = cal->data, *end = raw_cpu_read(kbl_cpu)->at;
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

/* Let the CPU record from the beginning of the buffer. */
static void kbl_cal_rewind(const struct kbl_cal *cal)
{
	kbl_relay_place(raw_cpu_read(kbl_cpu), cal->data, cal->data + cal->size);
}

/* What probes add to the time of a function that is not probed itself. */
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
	kbl_cal_rewind(cal);
	if (skb)
		kbl_cal_outer_skb(cal->skb, probed);
	else
		kbl_cal_outer(cal->skb, probed);
	kbl_cal_read(cal, cal->targets[skb ? KBL_CAL_OUTER_SKB : KBL_CAL_OUTER]->id, sum);
}

/* Called with interrupts off, while the CPU records into cal->data.  False: a call is missing. */
static bool kbl_cal_once(struct kbl_cal *cal, bool skb, struct kbl_cal_round *round)
{
	u16 leaf = cal->targets[skb ? KBL_CAL_LEAF_SKB : KBL_CAL_LEAF]->id;
	struct kbl_cal_sum leaves, probed, bare;
	unsigned int unit;

	kbl_cal_rewind(cal);
	/* One call first, so that thread and packet have been recorded. */
	if (skb)
		kbl_cal_leaf_skb(cal->skb);
	else
		kbl_cal_leaf(cal->skb);
	kbl_cal_rewind(cal);
	kbl_cal_pair(cal, skb, round);
	kbl_cal_read(cal, leaf, &leaves);
	kbl_cal_outer_call(cal, skb, true, &probed);
	kbl_cal_outer_call(cal, skb, false, &bare);
	for (unit = 0; unit < KBL_CAL_UNITS; unit++) {
		round->empty[unit] = leaves.of[unit] / KBL_CAL_CALLS;
		round->nested[unit] = (probed.of[unit] - bare.of[unit]) / KBL_CAL_CALLS;
	}
	return leaves.calls == KBL_CAL_CALLS && probed.calls == 1 && bare.calls == 1;
}

/* Run a round on this CPU, whose own buffer is not used meanwhile. */
bool kbl_cal_round(struct kbl_cal *cal, bool skb, struct kbl_cal_round *round)
{
	u64 written, bytes;
	unsigned long irq;
	struct kbl_cpu *c;
	void *at, *end;
	bool whole;

	local_irq_save(irq);
	c = __this_cpu_read(kbl_cpu);
	at = c->at;
	end = c->end;
	written = c->written;
	bytes = c->bytes;
	whole = kbl_cal_once(cal, skb, round);
	kbl_relay_place(c, at, end);
	c->written = written;
	c->bytes = bytes;
	/* The TASK and FOOTPRINT records of the round are not in the log. */
	memset(c->seen, 0, sizeof(c->seen));
	kbl_forget(c);
	local_irq_restore(irq);
	return whole;
}
