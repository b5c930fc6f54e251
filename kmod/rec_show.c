// SPDX-License-Identifier: MIT
/* kblrecord -r: show the records of a file as text, or a summary of them. */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "rec_reader.h"

#define REC_WAIT_NS 1000000000ull	/* chunks of different CPUs are not farther apart */

/*
 * A table may name something in earlier records, so first read only the tables.  Returns true if
 * that was possible: then the last table of each type is known.
 */
static bool rec_show_tables(struct rec_reader *r)
{
	kbl_u64 begin = r->at;

	if (lseek(r->fd, 0, SEEK_CUR) < 0)
		return false;	/* a pipe */
	r->silent = true;
	while (rec_reader_next(r)) {
		if (r->chunk.type == KBL_CHUNK_RECORDS && rec_reader_skip(r))
			continue;
		if (r->chunk.type == KBL_CHUNK_RECORDS || !rec_reader_payload(r))
			break;
		rec_reader_table(r);
	}
	lseek(r->fd, begin, SEEK_SET);
	r->at = begin;
	r->silent = false;
	r->damaged = false;
	return true;
}

/* The bytes of complete records, for at most w->limit records unless that is 0. */
static size_t rec_show_whole(struct rec_reader *r, struct rec_walk *w)
{
	size_t at = 0;

	while (at < r->payload.len && (!w->limit || w->heads < w->limit)) {
		const struct kbl_call_slot *head = (const void *)(r->payload.data + at);
		size_t len = (1 + head->ext) * KBL_SLOT_SIZE;

		if (head->kind < KBL_ENTRY || head->kind > KBL_LOST ||
		    at + len > r->payload.len) {
			fprintf(stderr, "kblrecord: %s: the chunk before %llu contains an "
				"invalid record: the rest of the chunk is skipped\n", r->path,
				(unsigned long long)r->at);
			r->damaged = true;
			break;
		}
		w->heads++;
		at += len;
	}
	return at;
}

/* True after a gap in the sequence: earlier TASK records of the CPU do not count any more. */
static bool rec_show_gap(struct rec_reader *r)
{
	unsigned int cpu = r->chunk.cpu;
	bool gap;

	if (cpu >= r->cpus) {
		r->seq = rec_more(r->seq, cpu + 1, sizeof(*r->seq));
		while (r->cpus <= cpu)
			r->seq[r->cpus++] = 0;
	}
	gap = r->chunk.seq != r->seq[cpu];
	r->seq[cpu] = r->chunk.seq + 1;
	return gap;
}

static void rec_show_records(struct rec_reader *r, struct rec_text *text,
			     struct rec_summary *summary)
{
	struct rec_walk walk = { .limit = r->left, .last_ns = r->chunk.last_ns };
	size_t len;

	if (r->swap)
		rec_swap_records(r->payload.data, r->payload.len);
	len = rec_show_whole(r, &walk);
	if (rec_show_gap(r))
		rec_text_forget(text, r->chunk.cpu);
	if (summary)
		rec_summary_take(summary, r->chunk.cpu, &walk, r->payload.data, len);
	else
		rec_text_take(text, r->chunk.cpu, &walk, r->payload.data, len);
	if (!summary && text->newest > REC_WAIT_NS)
		rec_text_flush(text, r->o->unbuffered ? ~0ull : text->newest - REC_WAIT_NS);
	r->left -= walk.heads;
}

/* Returns the exit status. */
int rec_show(const struct rec_options *o)
{
	struct rec_reader r = { .o = o, .path = o->in, .left = o->count };
	struct rec_text *text = rec_text_new(o, &r.names);
	struct rec_summary *summary = o->stats ? rec_summary_new(&r.names) : NULL;
	bool known;

	rec_reader_open(&r);
	known = rec_show_tables(&r);
	while ((!o->count || r.left) && rec_reader_next(&r) && rec_reader_payload(&r)) {
		if (r.chunk.type == KBL_CHUNK_RECORDS)
			rec_show_records(&r, text, summary);
		else if (!known)
			rec_reader_table(&r);
	}
	if (summary)
		rec_summary_show(summary, stdout, 0);
	else
		rec_text_flush(text, ~0ull);
	return r.damaged || rec_text_failed();
}
