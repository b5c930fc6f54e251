// SPDX-License-Identifier: MIT
/*
 * Large chunks are written with O_DIRECT.  Copying them into the page cache, and clearing its
 * pages before, would cost more than everything else that the recorder does.  The kernel
 * module's sub-buffers, and the buffer for relay files, leave room for the chunk's header before
 * the records. So the header and the records both begin at a disk block.  PAD chunks fill the
 * last block.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "rec.h"

#define REC_DIRECT_LEAST (64u << 10)	/* below this, PAD would be a large part of the file */
#define REC_HEADER sizeof(struct kbl_chunk_header)

/* Allocate a buffer for `room` bytes of records, which rec_records() writes without copying. */
char *rec_direct_buffer(size_t room)
{
	size_t whole = (REC_HEADER + room + 3 * REC_BLOCK) / REC_BLOCK * REC_BLOCK;
	char *p = aligned_alloc(REC_BLOCK, whole);

	if (!p)
		rec_die("out of memory");
	return p + REC_HEADER;
}

/* Sets f->direct to -1 if the file system does not support it. */
void rec_direct_open(struct rec_file *f)
{
	f->direct = open(f->path, O_WRONLY | O_DIRECT | O_CLOEXEC);
}

static void rec_direct_close(struct rec_file *f)
{
	close(f->direct);
	f->direct = -1;
}

/* Write a PAD chunk of len bytes, at least the size of a header, to p. */
static void rec_direct_pad(struct rec_file *f, char *p, size_t len)
{
	struct kbl_chunk_header pad = { .type = KBL_CHUNK_PAD, .cpu = 0xffff,
					.seq = f->table_seq++ };

	memset(p, 0, len);
	rec_chunk_complete(&pad, p + REC_HEADER, len - REC_HEADER);
	memcpy(p, &pad, sizeof(pad));
}

/* The size of a PAD chunk that fills a block up from `end`; 0: none is needed. */
static size_t rec_direct_gap(kbl_u64 end)
{
	size_t gap = -end % REC_BLOCK;

	return gap && gap < REC_HEADER ? gap + REC_BLOCK : gap;
}

/* Write everything; what fails with O_DIRECT goes through the page cache. */
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
 * Write the chunk of records at payload, with room around it as described above.  False: it is
 * not written, because it cannot be written in this way.
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
