// SPDX-License-Identifier: MIT
/* The relay files, one a CPU: whole records out of them, into chunks. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "rec.h"

#define REC_CHUNK_BYTES (1 << 20)

/* The tail of a read may hold the beginning of a record: it waits here. */
struct rec_cpu {
	int fd;
	int cpu;
	kbl_u64 seq;
	size_t have;
	char data[REC_CHUNK_BYTES];
};

static struct rec_cpu **rec_cpus;
static size_t rec_nr_cpus;

void rec_cpus_open(void)
{
	long possible = sysconf(_SC_NPROCESSORS_CONF);

	for (int cpu = 0; cpu < possible; cpu++) {
		struct rec_cpu *c;
		char path[64];
		int fd;

		snprintf(path, sizeof(path), REC_DEBUGFS "/cpu%d", cpu);
		fd = open(path, O_RDONLY | O_NONBLOCK);
		if (fd < 0)
			continue;	/* not online */
		c = rec_more(NULL, 1, sizeof(*c));
		memset(c, 0, sizeof(*c));
		c->fd = fd;
		c->cpu = cpu;
		rec_cpus = rec_more(rec_cpus, rec_nr_cpus + 1, sizeof(*rec_cpus));
		rec_cpus[rec_nr_cpus++] = c;
	}
	if (!rec_nr_cpus)
		rec_die(REC_DEBUGFS ": no cpu files");
}

static void rec_use(struct rec_symbols *s, kbl_s32 offset)
{
	struct rec_symbol *symbol = rec_symbol_at(s, s->stext + offset);

	if (symbol)
		symbol->used = true;
}

/* Remember the symbols a record's addresses lie in. */
static void rec_note(struct rec_symbols *s, const char *slot)
{
	const struct kbl_call_slot *call = (const void *)slot;
	const struct kbl_event_slot *event = (const void *)slot;

	if (call->kind == KBL_ENTRY && !(call->flags & KBL_FLAG_NO_CALLER))
		rec_use(s, call->caller);
	if (event->kind == KBL_EVENT &&
	    (event->event == KBL_EV_DROP || event->event == KBL_EV_CONSUME))
		rec_use(s, event->data >> 32);
}

/* Measure the whole records at hand; fills the header's counts and times. */
static size_t rec_whole(const struct rec_cpu *c, struct kbl_chunk_header *header,
			struct rec_symbols *s)
{
	size_t at = 0;

	while (at + KBL_SLOT_SIZE <= c->have) {
		const struct kbl_call_slot *head = (const void *)(c->data + at);
		size_t len = (1 + head->ext) * KBL_SLOT_SIZE;

		if (head->kind < KBL_ENTRY || head->kind > KBL_LOST || head->ext > KBL_MAX_EXT)
			rec_die("cpu%d: kind %d is no record", c->cpu, head->kind);
		if (at + len > c->have)
			break;
		if (!header->nr_items++)
			header->first_ns = head->ts;
		header->last_ns = head->ts;
		rec_note(s, c->data + at);
		at += len;
	}
	return at;
}

/* Read one CPU until it has no more; returns the records written. */
static kbl_u64 rec_cpu_read(struct rec_cpu *c, struct rec_file *f, struct rec_symbols *s)
{
	kbl_u64 records = 0;

	for (;;) {
		struct kbl_chunk_header header = { .type = KBL_CHUNK_RECORDS, .cpu = c->cpu };
		ssize_t n = read(c->fd, c->data + c->have, sizeof(c->data) - c->have);
		size_t whole;

		if (n < 0 && errno != EINTR && errno != EAGAIN)
			rec_die("cpu%d: %s", c->cpu, strerror(errno));
		if (n <= 0)
			return records;
		c->have += n;
		whole = rec_whole(c, &header, s);
		if (!whole)
			continue;
		header.seq = c->seq++;
		rec_chunk(f, &header, c->data, whole);
		records += header.nr_items;
		c->have -= whole;
		memmove(c->data, c->data + whole, c->have);
	}
}

kbl_u64 rec_cpus_read(struct rec_file *f, struct rec_symbols *s)
{
	kbl_u64 records = 0;

	for (size_t i = 0; i < rec_nr_cpus; i++)
		records += rec_cpu_read(rec_cpus[i], f, s);
	return records;
}
