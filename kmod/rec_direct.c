// SPDX-License-Identifier: MIT
/*
 * Large chunks past the page cache.  Copying into it, and clearing its pages
 * before, would cost more than all else the recorder does.  The kernel module's
 * sub-buffers, and the buffer that relay files are read into, leave room for the
 * chunk's header before the records, so that both begin at a block; PAD chunks
 * make up the rest of blocks.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "rec.h"

#define REC_DIRECT_LEAST (64u << 10)	/* below that PAD chunks would be too much of the file */
#define REC_HEADER sizeof(struct kbl_chunk_header)

/* For `room` bytes of records, to be handed to rec_records() as they lie. */
char *rec_direct_buffer(size_t room)
{
	size_t whole = (REC_HEADER + room + 3 * REC_BLOCK) / REC_BLOCK * REC_BLOCK;
	char *p = aligned_alloc(REC_BLOCK, whole);

	if (!p)
		rec_die("out of memory");
	return p + REC_HEADER;
}

/* -1 in f->direct where the file system cannot do it. */
void rec_direct_open(struct rec_file *f)
{
	f->direct = open(f->path, O_WRONLY | O_DIRECT | O_CLOEXEC);
}

static void rec_direct_close(struct rec_file *f)
{
	close(f->direct);
	f->direct = -1;
}

/* A PAD chunk of len bytes in all, at least a header's, lies at p then. */
static void rec_direct_pad(struct rec_file *f, char *p, size_t len)
{
	struct kbl_chunk_header pad = { .type = KBL_CHUNK_PAD, .cpu = 0xffff,
					.seq = f->table_seq++ };

	memset(p, 0, len);
	rec_chunk_complete(&pad, p + REC_HEADER, len - REC_HEADER);
	memcpy(p, &pad, sizeof(pad));
}

/* The bytes of a PAD chunk that makes `end` the end of a block; 0: none is needed. */
static size_t rec_direct_gap(kbl_u64 end)
{
	size_t gap = -end % REC_BLOCK;

	return gap && gap < REC_HEADER ? gap + REC_BLOCK : gap;
}

/* Writes all of it, or what is left of it through the page cache. */
static bool rec_direct_write(struct rec_file *f, const char *p, size_t len)
{
	ssize_t n;

	do
		n = pwrite(f->direct, p, len, f->good);
	while (n < 0 && errno == EINTR);
	if (n < 0 && errno == EINVAL)
		return false;
	if (n < 0)
		rec_file_failed(f);
	for (size_t done = n; done < len; done += n) {
		n = pwrite(f->fd, p + done, len - done, f->good + done);
		if (n < 0 && errno != EINTR)
			rec_file_failed(f);
		n = n < 0 ? 0 : n;
	}
	return true;
}

/*
 * The chunk of records at payload, with room around it as said above; false: it is not
 * written, nor can it be in this way.
 */
bool rec_direct_chunk(struct rec_file *f, struct kbl_chunk_header *header, char *payload,
		      size_t len)
{
	size_t gap = rec_direct_gap(f->good), whole = REC_HEADER + len;
	char pad[2 * REC_BLOCK];

	if (f->direct < 0 || len < REC_DIRECT_LEAST ||
	    (uintptr_t)payload % REC_BLOCK != REC_HEADER)
		return false;
	if (gap) {
		rec_direct_pad(f, pad, gap);
		rec_file_write(f, pad, gap);
	}
	gap = rec_direct_gap(whole);
	if (gap)
		rec_direct_pad(f, payload + len, gap);
	rec_chunk_complete(header, payload, len);
	memcpy(payload - REC_HEADER, header, sizeof(*header));
	if (!rec_direct_write(f, payload - REC_HEADER, whole + gap)) {
		rec_direct_close(f);
		f->table_seq -= gap != 0;
		return false;
	}
	f->good += whole + gap;
	if (lseek(f->fd, f->good, SEEK_SET) < 0)
		rec_file_failed(f);
	return true;
}
