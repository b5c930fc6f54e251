// SPDX-License-Identifier: MIT
/*
 * Records arrive CPU by CPU, and a call arrives when it returns.  Records wait here until all
 * earlier ones must have arrived; then they are printed in order of time.  If a call lasts
 * longer than this wait, it is printed late.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "rec_text.h"

struct rec_text *rec_text_new(const struct rec_options *o, const struct rec_names *names)
{
	struct rec_text *t = rec_more(NULL, 1, sizeof(*t));

	memset(t, 0, sizeof(*t));
	t->o = o;
	t->names = names;
	return t;
}

static void rec_text_cpu(struct rec_text *t, unsigned int cpu)
{
	if (cpu < t->cpus || cpu == KBL_CPU_RECORDER)
		return;
	t->pid = rec_more(t->pid, cpu + 1, sizeof(*t->pid));
	t->began = rec_more(t->began, cpu + 1, sizeof(*t->began));
	for (; t->cpus <= cpu; t->cpus++) {
		t->pid[t->cpus] = REC_NO_PID;
		t->began[t->cpus] = (struct rec_began){};
	}
}

/* Records of this CPU are missing, so its thread is unknown until the next TASK record. */
void rec_text_forget(struct rec_text *t, unsigned int cpu)
{
	rec_text_cpu(t, cpu);
	if (cpu >= t->cpus)
		return;
	t->pid[cpu] = REC_NO_PID;
	t->began[cpu] = (struct rec_began){};
}

static void rec_text_task(struct rec_text *t, unsigned int cpu, const union rec_slot *slot)
{
	struct rec_comm *comm = &t->comm[slot->event.pid & (REC_COMMS - 1)];

	t->pid[cpu] = slot->event.pid;
	if (!slot->event.ext || slot[1].comm.type != KBL_EXT_COMM)
		return;
	comm->tid = slot->event.pid;
	memcpy(comm->name, slot[1].comm.comm, sizeof(comm->name));
	comm->name[sizeof(comm->name) - 1] = 0;
}

static void rec_text_add(struct rec_text *t, unsigned int cpu, const union rec_slot *slot)
{
	static const kbl_u16 ranks[] = { [KBL_EXIT] = 1, [KBL_EVENT] = 2, [KBL_LOST] = 3 };
	struct rec_line line = { .ts = slot->call.ts, .order = t->order++, .at = t->pool.len,
				 .cpu = cpu, .pid = REC_NO_PID, .rank = ranks[slot->call.kind] };

	if (cpu < t->cpus)
		line.pid = t->pid[cpu];
	if (slot->call.kind == KBL_CALL)
		line.cpu = slot->span.entry_cpu;
	else if (slot->call.kind == KBL_EVENT)
		line.pid = slot->event.pid;
	else if (slot->call.kind != KBL_LOST)
		line.pid = slot->call.pid;
	rec_append(&t->pool, slot, (1 + slot->call.ext) * KBL_SLOT_SIZE);
	rec_append(&t->lines, &line, sizeof(line));
}

/* The take() of a sink: complete records of one CPU. */
void rec_text_take(void *text, unsigned int cpu, const struct rec_walk *walk, const char *data,
		   size_t len)
{
	struct rec_text *t = text;

	rec_text_cpu(t, cpu);
	for (size_t at = 0; at < len;) {
		const union rec_slot *slot = (const void *)(data + at);

		if (slot->call.kind == KBL_EVENT && slot->event.event == KBL_EV_TASK)
			rec_text_task(t, cpu, slot);
		if (t->o->verbose || slot->call.kind != KBL_EVENT ||
		    slot->event.event != KBL_EV_TASK)
			rec_text_add(t, cpu, slot);
		at += (1 + slot->call.ext) * KBL_SLOT_SIZE;
	}
	if (walk->last_ns > t->newest)
		t->newest = walk->last_ns;
}

static int rec_text_order(const void *a, const void *b)
{
	const struct rec_line *x = a, *y = b;

	if (x->ts != y->ts)
		return x->ts < y->ts ? -1 : 1;
	if (x->cpu != y->cpu)
		return x->cpu < y->cpu ? -1 : 1;
	if (x->rank != y->rank)
		return x->rank < y->rank ? -1 : 1;
	return x->order < y->order ? -1 : 1;
}

static int rec_text_as_came(const void *a, const void *b)
{
	const struct rec_line *x = a, *y = b;

	return x->order < y->order ? -1 : 1;
}

static kbl_u64 rec_text_end(const union rec_slot *slot)
{
	if (slot->call.kind == KBL_ENTRY)
		return ~0ull;
	for (int i = 1; slot->span.dur == 0xffffffff && i <= slot->span.ext; i++)
		if (slot[i].ret.type == KBL_EXT_CALL)
			return slot->span.ts + slot[i].ret.dur;
	return slot->span.ts + slot->span.dur;
}

/* The depth of a record in the calls of its thread. */
static unsigned int rec_text_depth(struct rec_text *t, const struct rec_line *line,
				   const union rec_slot *slot)
{
	kbl_u64 key = line->pid ? line->pid : 1ull << 32 | line->cpu;
	struct rec_lane *lane = &t->lane[(key ^ key >> 22) & (REC_LANES - 1)];
	bool call = slot->call.kind == KBL_CALL || slot->call.kind == KBL_ENTRY;
	unsigned int depth;

	if (lane->key != key)
		*lane = (struct rec_lane){ .key = key };
	if (line->ts < lane->last)
		return 0;	/* late: the calls around it are over */
	lane->last = line->ts;
	while (lane->depth && lane->end[lane->depth - 1] < line->ts)
		lane->depth--;
	if (slot->call.kind == KBL_EXIT && lane->depth)
		lane->depth--;
	depth = lane->depth;
	if (call && depth < REC_DEPTH)
		lane->end[lane->depth++] = rec_text_end(slot);
	return depth;
}

/* Discard what is not needed for the remaining lines. */
static void rec_text_keep(struct rec_text *t, size_t gone)
{
	struct rec_line *line = (void *)t->lines.data;
	size_t left = t->lines.len / sizeof(*line) - gone;
	struct rec_bytes pool = {};

	for (size_t i = 0; i < left; i++) {
		const union rec_slot *slot;

		line[i] = line[gone + i];
		slot = (const void *)(t->pool.data + line[i].at);
		line[i].at = pool.len;
		rec_append(&pool, slot, (1 + slot->call.ext) * KBL_SLOT_SIZE);
	}
	free(t->pool.data);
	t->pool = pool;
	t->lines.len = left * sizeof(*line);
}

/*
 * True if text could not be written; reported once.  A reader that stops early, such as
 * head(1), is not an error.
 */
bool rec_text_failed(void)
{
	static bool reported;

	if (!fflush(stdout) && !ferror(stdout))
		return false;
	if (!reported && errno != EPIPE)
		fprintf(stderr, "kblrecord: standard output: %s\n", strerror(errno));
	reported = true;
	return true;
}

/* Show the records before `until`. */
void rec_text_flush(struct rec_text *t, kbl_u64 until)
{
	struct rec_line *line = (void *)t->lines.data;
	size_t n = t->lines.len / sizeof(*line), i;

	if (n)
		qsort(line, n, sizeof(*line), t->o->unbuffered ? rec_text_as_came : rec_text_order);
	for (i = 0; i < n && line[i].ts < until; i++) {
		const union rec_slot *slot = (const void *)(t->pool.data + line[i].at);

		rec_line_show(t, &line[i], rec_text_depth(t, &line[i], slot));
	}
	if (i)
		rec_text_keep(t, i);
	fflush(stdout);
}
