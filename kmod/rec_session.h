/* SPDX-License-Identifier: MIT */
/* A recording from its beginning to its end. */
#ifndef REC_SESSION_H
#define REC_SESSION_H

#include "rec_text.h"

struct rec_session {
	const struct rec_options *o;
	struct rec_symbols symbols;
	struct rec_probes probes;
	struct rec_cpus cpus;
	struct rec_output out;
	struct rec_names names;
	struct rec_bytes devices;	/* of names */
	struct rec_text *text;		/* NULL: none is wanted */
	struct rec_summary *summary;	/* the same */
	struct kbl_counters counters;
	kbl_u64 records;
	kbl_u64 began_ns;
	kbl_u64 tick_ns;
	bool stopped;		/* somebody else deactivated the module */
};

/* rec_session.c */
void rec_session_probes(struct rec_session *s, struct rec_options *o);
void rec_session_begin(struct rec_session *s);
bool rec_session_turn(struct rec_session *s);
int rec_session_end(struct rec_session *s);

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
