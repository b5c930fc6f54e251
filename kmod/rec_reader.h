/* SPDX-License-Identifier: MIT */
/* Reading a .kbl file. */
#ifndef REC_READER_H
#define REC_READER_H

#include "rec_text.h"

struct rec_reader {
	const struct rec_options *o;
	const char *path;
	int fd;
	bool swap;
	bool inside;		/* in the middle of a chunk */
	bool silent;		/* in the first pass over the file */
	bool ended;		/* the last chunk is END: a clean stop */
	bool damaged;
	kbl_u64 at;
	kbl_u64 left;		/* records still to show */
	struct kbl_file_header header;
	struct kbl_chunk_header chunk;
	struct rec_bytes payload;
	struct rec_bytes strings;
	struct rec_bytes probes;
	struct rec_symbols symbols;
	struct rec_names names;
	kbl_u64 *seq;		/* by CPU: number of the next chunk */
	size_t cpus;
};

void rec_reader_open(struct rec_reader *r);
bool rec_reader_next(struct rec_reader *r);
bool rec_reader_payload(struct rec_reader *r);
bool rec_reader_skip(struct rec_reader *r);
void rec_reader_table(struct rec_reader *r);

#endif /* REC_READER_H */
