// SPDX-License-Identifier: MIT
/*
 * The durations of each function's calls, in constant memory: a histogram with 16 steps for each
 * power of two.
 */
#include <stdlib.h>
#include <string.h>

#include "rec_text.h"

#define REC_STEPS 16		/* for each power of two */
#define REC_TOP 40		/* 2^40 ns are 18 minutes; longer calls count as that */
#define REC_BUCKETS ((REC_TOP - 3) * REC_STEPS)
#define REC_FUNCTIONS 65536

struct rec_function {
	unsigned int id;
	kbl_u64 calls;
	kbl_u64 total;
	kbl_u64 longest;
	kbl_u64 bucket[REC_BUCKETS];
};

struct rec_summary {
	const struct rec_names *names;
	kbl_u64 records;
	kbl_u64 lost;
	struct rec_function *function[REC_FUNCTIONS];
};

struct rec_summary *rec_summary_new(const struct rec_names *names)
{
	struct rec_summary *s = rec_more(NULL, 1, sizeof(*s));

	memset(s, 0, sizeof(*s));
	s->names = names;
	return s;
}

static unsigned int rec_bucket(kbl_u64 ns)
{
	unsigned int top;

	if (ns < REC_STEPS)
		return ns;
	top = 63 - __builtin_clzll(ns);
	if (top >= REC_TOP)
		return REC_BUCKETS - 1;
	return (top - 3) * REC_STEPS + (ns >> (top - 4) & (REC_STEPS - 1));
}

/* The middle of a bucket. */
static kbl_u64 rec_bucket_ns(unsigned int bucket)
{
	unsigned int shift = bucket / REC_STEPS - 1;

	if (bucket < 2 * REC_STEPS)
		return bucket;
	return ((kbl_u64)(REC_STEPS + bucket % REC_STEPS) << shift) + ((1ull << shift) >> 1);
}

static void rec_summary_add(struct rec_summary *s, unsigned int id, kbl_u64 ns)
{
	struct rec_function *f = s->function[id];

	if (!f) {
		f = s->function[id] = rec_more(NULL, 1, sizeof(*f));
		memset(f, 0, sizeof(*f));
		f->id = id;
	}
	f->calls++;
	f->total += ns;
	f->bucket[rec_bucket(ns)]++;
	if (ns > f->longest)
		f->longest = ns;
}

/* The take() of a sink. */
void rec_summary_take(void *summary, unsigned int cpu, const struct rec_walk *walk,
		      const char *data, size_t len)
{
	struct rec_summary *s = summary;

	(void)cpu;
	s->records += walk->heads;
	for (size_t at = 0; at < len;) {
		const union rec_slot *slot = (const void *)(data + at);
		kbl_u64 ns = slot->span.dur;

		for (int i = 1; ns == 0xffffffff && i <= slot->span.ext; i++)
			if (slot[i].ret.type == KBL_EXT_CALL)
				ns = slot[i].ret.dur;
		if (slot->call.kind == KBL_CALL)
			rec_summary_add(s, slot->span.func, ns);
		else if (slot->call.kind == KBL_LOST)
			s->lost += slot->lost.count;
		at += (1 + slot->call.ext) * KBL_SLOT_SIZE;
	}
}

/* The duration that `part` of the calls did not exceed. */
static kbl_u64 rec_quantile(const struct rec_function *f, double part)
{
	kbl_u64 below = 0, want = part * f->calls;

	for (unsigned int i = 0; i < REC_BUCKETS; i++) {
		below += f->bucket[i];
		if (below > want)
			return rec_bucket_ns(i) < f->longest ? rec_bucket_ns(i) : f->longest;
	}
	return f->longest;
}

static int rec_by_total(const void *a, const void *b)
{
	const struct rec_function *x = *(struct rec_function **)a, *y = *(struct rec_function **)b;

	if (x->total != y->total)
		return x->total > y->total ? -1 : 1;
	return x->id < y->id ? -1 : 1;
}

static void rec_summary_line(const struct rec_summary *s, const struct rec_function *f, FILE *out)
{
	fprintf(out, "%-36s %10llu %12.3f %12.3f %12.3f %12.3f %12.3f\n",
		rec_probe_name(s->names, f->id), (unsigned long long)f->calls,
		f->total / 1e3 / f->calls, rec_quantile(f, 0.5) / 1e3, rec_quantile(f, 0.99) / 1e3,
		f->longest / 1e3, f->total / 1e6);
}

/* Show the functions that took most time, at most `rows` of them; 0: all. */
void rec_summary_show(const struct rec_summary *s, FILE *out, unsigned int rows)
{
	struct rec_function **order = rec_more(NULL, REC_FUNCTIONS, sizeof(*order));
	size_t n = 0;

	for (size_t i = 0; i < REC_FUNCTIONS; i++)
		if (s->function[i])
			order[n++] = s->function[i];
	qsort(order, n, sizeof(*order), rec_by_total);
	fprintf(out, "%-36s %10s %12s %12s %12s %12s %12s\n", "FUNCTION", "CALLS", "MEAN us",
		"P50 us", "P99 us", "MAX us", "TOTAL ms");
	for (size_t i = 0; i < n && (!rows || i < rows); i++)
		rec_summary_line(s, order[i], out);
	fprintf(out, "%llu records of %zu functions, %llu lost\n", (unsigned long long)s->records,
		n, (unsigned long long)s->lost);
	fflush(out);
	free(order);
}
