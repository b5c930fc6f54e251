/* SPDX-License-Identifier: MIT */
/* A recording, from start to stop. */
#ifndef REC_SESSION_H
#define REC_SESSION_H

#include "rec_text.h"

#define REC_MISSED_MS 90	/* interval of reading the missed hits */

/* Hits that the probes missed, as LOST records report them. */
struct rec_missed {
	kbl_u64 any;		/* of unknown functions; the others are in rec_probes */
	kbl_u64 total;
	kbl_u64 records;
	kbl_u64 since_ns;	/* when the counts were read last */
	kbl_u64 polled_ns;
};

struct rec_session {
	const struct rec_options *o;
	struct rec_symbols symbols;
	struct rec_probes probes;
	struct rec_cpus cpus;
	struct rec_code code;
	struct rec_output out;
	struct rec_names names;
	struct rec_bytes devices;	/* struct kbl_device[] of names */
	struct rec_text *text;		/* NULL: no text */
	struct rec_summary *summary;	/* NULL: no summary */
	struct kbl_counters counters;
	struct kbl_counters before;	/* of the files before this one */
	struct kbl_counters filed;	/* records in all files: only written and bytes */
	struct rec_missed missed;
	kbl_u64 records;
	kbl_u64 began_ns;
	kbl_u64 tick_ns;
	kbl_u64 read_ns;
	bool stopped;		/* another process deactivated the module */
};

/* rec_session.c */
void rec_session_probes(struct rec_session *s, struct rec_options *o);
void rec_session_open(struct rec_session *s);
void rec_session_begin(struct rec_session *s);
bool rec_session_turn(struct rec_session *s);
int rec_session_end(struct rec_session *s);

void rec_session_take(void *self, unsigned int cpu, const struct rec_walk *walk, char *data,
		      size_t len);

/* rec_missed.c */
void rec_missed_begin(struct rec_session *s);
void rec_missed_poll(struct rec_session *s);
int rec_missed_wait(const struct rec_session *s);

/* rec_session_file.c */
void rec_session_file_open(struct rec_session *s);
void rec_session_file_begin(struct rec_session *s);
void rec_session_file_tick(struct rec_session *s);
void rec_session_file_end(struct rec_session *s);
void rec_session_file_take(struct rec_session *s, unsigned int cpu, const struct rec_walk *walk,
			   char *data, size_t len);

/* rec_report.c */
void rec_session_report(struct rec_session *s);
void rec_session_redraw(const struct rec_session *s);

#endif /* REC_SESSION_H */
