// SPDX-License-Identifier: MIT
/*
 * Hits that the kernel's probes missed.  The kernel only counts them.  The counts are read about
 * ten times a second, and each increase becomes a LOST record.
 */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "rec_session.h"

/* The counts are 0 before a probe is armed.  Older modules do not have this file. */
void rec_missed_begin(struct rec_session *s)
{
	s->probes.polled = !access(rec_module_path("missed"), R_OK);
	s->missed.since_ns = s->missed.polled_ns = rec_now_ns();
}

/* The number already reported, by id. */
static kbl_u64 *rec_missed_declared(struct rec_probes *p, size_t id)
{
	if (id >= p->nr_missed) {
		p->missed = rec_more(p->missed, id + 1, sizeof(*p->missed));
		memset(p->missed + p->nr_missed, 0, (id + 1 - p->nr_missed) * sizeof(*p->missed));
		p->nr_missed = id + 1;
	}
	return &p->missed[id];
}

/*
 * The kernel counts without a lock, so a count may even decrease: then hits were missed, but
 * their number is unknown.
 */
static void rec_missed_add(struct rec_bytes *slots, kbl_u64 *declared, kbl_u64 count, kbl_u32 func)
{
	struct kbl_lost_slot lost = {
		.kind = KBL_LOST,
		.reason = KBL_LOST_MISSED,
		.func = func,
		.count = count > *declared ? count - *declared : 1,
	};

	if (count == *declared)
		return;
	*declared = count;
	rec_append(slots, &lost, sizeof(lost));
}

static void rec_missed_line(struct rec_session *s, struct rec_bytes *slots, const char *line)
{
	unsigned long long count;
	unsigned int id;

	if (sscanf(line, "any %llu", &count) == 1)
		rec_missed_add(slots, &s->missed.any, count, REC_NO_PROBE);
	else if (sscanf(line, "%u %llu", &id, &count) == 2 && id < REC_PROBES)
		rec_missed_add(slots, rec_missed_declared(&s->probes, id), count, id);
}

/*
 * Write to the stream of KBL_CPU_RECORDER: the times are later than those of records that wait
 * in the CPUs' buffers.
 */
static void rec_missed_write(struct rec_session *s, struct rec_bytes *slots, kbl_u64 until)
{
	struct kbl_lost_slot *lost = (void *)slots->data;
	struct rec_walk walk = { .heads = slots->len / sizeof(*lost), .first_ns = until,
				 .last_ns = until };

	for (size_t i = 0; i < walk.heads; i++) {
		lost[i].first_ns = s->missed.since_ns;
		lost[i].ts = until;
		s->missed.total += lost[i].count;
	}
	s->missed.records += walk.heads;
	if (walk.heads)
		rec_session_take(s, KBL_CPU_RECORDER, &walk, slots->data, slots->len);
}

/*
 * A miss that is counted now, and was not last time, came after the last read began and before
 * this one ended.
 */
void rec_missed_poll(struct rec_session *s)
{
	char *text = s->probes.polled ? rec_module_read("missed") : NULL, *rest = text, *line;
	unsigned long long since = 0, until = 0;
	struct rec_bytes slots = {};

	while (text && (line = rec_line(&rest)))
		if (sscanf(line, "since %llu", &since) != 1 &&
		    sscanf(line, "until %llu", &until) != 1)
			rec_missed_line(s, &slots, line);
	rec_missed_write(s, &slots, until);
	if (until)
		s->missed.since_ns = since;
	s->missed.polled_ns = rec_now_ns();
	free(slots.data);
	free(text);
}

/* Milliseconds until the next read. */
int rec_missed_wait(const struct rec_session *s)
{
	kbl_u64 now = rec_now_ns(), next = s->missed.polled_ns + REC_MISSED_MS * 1000000ull;

	return next > now ? (next - now) / 1000000 + 1 : 0;
}
