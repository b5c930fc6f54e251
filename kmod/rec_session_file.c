// SPDX-License-Identifier: MIT
/*
 * The files of a recording.  Each file is complete: its tables are at its beginning, so that the
 * file can be read even if it is cut short, and again at its end.
 */
#include <string.h>

#include "rec_session.h"

/*
 * Write the tables that are known before the module is activated.  Exits if the file cannot be
 * created.
 */
void rec_session_file_open(struct rec_session *s)
{
	struct rec_output *out = &s->out;
	struct kbl_file_header header;

	out->o = s->o;
	rec_header_fill(&header, s->symbols.stext);
	rec_output_next(out, &header);
	rec_meta_write(&out->file, s->o, s->probes.polled ? REC_MISSED_MS : 0);
	rec_clock_write(&out->file);
}

/* Count missed hits as LOST records report them; these records count as written, too. */
static struct kbl_counters rec_session_total(const struct rec_session *s)
{
	struct kbl_counters c = s->counters;

	c.written += s->missed.records;
	c.bytes += s->missed.records * KBL_SLOT_SIZE;
	if (s->probes.polled)
		c.missed = s->missed.total;
	return c;
}

/* A file counts only what happened in its own time. */
static void rec_session_counters(struct rec_session *s)
{
	struct kbl_counters c = rec_session_total(s);

	rec_counters_subtract(&c, &s->before);
	rec_table(&s->out.file, KBL_CHUNK_COUNTERS, &c, 1, sizeof(c));
}

/*
 * The next file's counters begin at 0.  Records that are still in the kernel's buffers will be in
 * the next file, and count there.
 */
static void rec_session_counted(struct rec_session *s)
{
	s->before = rec_session_total(s);
	s->before.written = s->filed.written;
	s->before.bytes = s->filed.bytes;
}

/* Write what is known once the module is active. */
void rec_session_file_begin(struct rec_session *s)
{
	struct rec_output *out = &s->out;

	rec_devices_write(&out->file);
	rec_calibration_write(&out->file);
	for (size_t i = 0; i < s->probes.n; i++)
		if (s->probes.v[i].asked)
			rec_symbols_use(&s->symbols, s->probes.v[i].asked);
	rec_probes_write(&s->probes, &s->symbols, &out->file);
	rec_symbols_write(&s->symbols, &out->file);
	rec_code_write(&s->code, &out->file);
	rec_session_counters(s);
	out->empty = out->file.good;
}

/* Write all tables again, now complete; the last counters show what is missing. */
void rec_session_file_end(struct rec_session *s)
{
	struct rec_file *f = &s->out.file;

	rec_probes_update(&s->probes);
	rec_probes_write(&s->probes, &s->symbols, f);
	rec_symbols_write(&s->symbols, f);
	rec_devices_write(f);
	rec_clock_write(f);
	rec_session_counters(s);
	rec_table(f, KBL_CHUNK_END, NULL, 0, 0);
	rec_file_close(f);
}

/*
 * The old file has the kernel's TASK and FOOTPRINT records: let the kernel write them again for
 * the next file.  This comes first, since records made while the tables are written go to the
 * new file.
 */
static void rec_session_file_next(struct rec_session *s)
{
	rec_module_write("control", "retell\n");
	rec_counters_read(&s->counters);
	rec_missed_poll(s);
	rec_session_file_end(s);
	rec_session_counted(s);
	rec_session_file_open(s);
	rec_session_file_begin(s);
}

void rec_session_file_tick(struct rec_session *s)
{
	struct rec_file *f = &s->out.file;

	if (rec_output_old(&s->out)) {
		rec_session_file_next(s);
		return;
	}
	rec_missed_poll(s);
	rec_clock_write(f);
	rec_session_counters(s);
	if (s->symbols.used.len != s->symbols.written)
		rec_symbols_write(&s->symbols, f);
}

/* The size of the tables at the end. */
static size_t rec_session_tables(const struct rec_session *s)
{
	return 2 * s->symbols.strings.len + s->symbols.used.len +
	       s->probes.n * (sizeof(struct kbl_probe) + KBL_SLOT_SIZE) + 16384;
}

void rec_session_file_take(struct rec_session *s, unsigned int cpu, const struct rec_walk *walk,
			   char *data, size_t len)
{
	if (cpu != KBL_CPU_RECORDER && rec_output_full(&s->out, len, rec_session_tables(s)))
		rec_session_file_next(s);
	rec_records(&s->out.file, cpu, walk, data, len);
	s->filed.written += walk->heads;
	s->filed.bytes += len;
}
