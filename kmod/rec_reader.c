// SPDX-License-Identifier: MIT
/* Read a .kbl file chunk by chunk, in either byte order. */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "rec_reader.h"

#define REC_FILE_HEADER "4221124888"
#define REC_CHUNK_HEADER "4228884444"

/*
 * Print a line if the recording did not end with a clean stop.  The caller reports a header
 * that is cut short.
 */
static void rec_reader_report_end(const struct rec_reader *r, bool inside)
{
	if (r->silent || !r->at)
		return;
	if (inside)
		fprintf(stderr, "kblrecord: %s: cut short; last whole chunk ends at byte %llu\n",
			r->path, (unsigned long long)r->at);
	else if (!r->ended)
		fprintf(stderr, "kblrecord: %s: recording ended without a clean stop\n", r->path);
}

/* Read all len bytes; false at the end of the file. */
static bool rec_reader_bytes(struct rec_reader *r, void *to, size_t len)
{
	size_t have = 0;

	while (have < len) {
		ssize_t n = read(r->fd, (char *)to + have, len - have);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			rec_die("%s: %s", r->path, strerror(errno));
		if (!n)
			break;
		have += n;
	}
	if (have < len)
		rec_reader_report_end(r, have || r->inside);
	return have == len;
}

void rec_reader_open(struct rec_reader *r)
{
	struct kbl_file_header *header = &r->header;
	char skip[256];

	r->fd = strcmp(r->path, "-") ? open(r->path, O_RDONLY | O_CLOEXEC) : STDIN_FILENO;
	if (r->fd < 0)
		rec_die("%s: %s", r->path, strerror(errno));
	if (!rec_reader_bytes(r, header, sizeof(*header)))
		rec_die("%s: too short for a KBL", r->path);
	r->swap = header->magic == __builtin_bswap32(KBL_MAGIC);
	if (r->swap)
		rec_swap(header, REC_FILE_HEADER);
	if (header->magic != KBL_MAGIC)
		rec_die("%s: not a KBL file", r->path);
	if (header->version != KBL_VERSION || header->header_len < sizeof(*header))
		rec_die("%s: version %u; this program reads only version %d", r->path,
			header->version, KBL_VERSION);
	for (size_t more = header->header_len - sizeof(*header); more;) {
		size_t part = more < sizeof(skip) ? more : sizeof(skip);

		if (!rec_reader_bytes(r, skip, part))
			rec_die("%s: too short for a KBL", r->path);
		more -= part;
	}
	r->at = header->header_len;
	r->symbols.stext = header->stext;
	r->names.symbols = &r->symbols;
	r->names.real_minus_mono = header->start_real_ns - (kbl_s64)header->start_mono_ns;
	memcpy(r->names.machine, header->arch, sizeof(r->names.machine) - 1);
}

/* Read and check the next chunk's header; false: no more, or the rest is unreadable. */
bool rec_reader_next(struct rec_reader *r)
{
	struct kbl_chunk_header *chunk = &r->chunk;
	kbl_u32 crc;

	r->inside = false;
	if (!rec_reader_bytes(r, chunk, sizeof(*chunk)))
		return false;
	r->inside = true;
	crc = rec_crc32(chunk, offsetof(struct kbl_chunk_header, header_crc32));
	if (r->swap)
		rec_swap(chunk, REC_CHUNK_HEADER);
	if (chunk->magic == KBL_CHUNK_MAGIC && chunk->header_crc32 == crc &&
	    chunk->payload_len <= KBL_MAX_PAYLOAD && chunk->payload_len % 8 == 0) {
		r->ended = chunk->type == KBL_CHUNK_END;
		return true;
	}
	if (!r->silent)
		fprintf(stderr, "kblrecord: %s: damaged at byte %llu; the rest is not shown\n",
			r->path, (unsigned long long)r->at);
	r->damaged = true;
	return false;
}

/*
 * Read the payload; false: it is cut short.  One with a wrong checksum is reported and left
 * empty.
 */
bool rec_reader_payload(struct rec_reader *r)
{
	size_t len = r->chunk.payload_len;

	r->payload.len = 0;
	if (len > r->payload.room) {
		r->payload.data = rec_more(r->payload.data, len, 1);
		r->payload.room = len;
	}
	if (!rec_reader_bytes(r, r->payload.data, len))
		return false;
	r->payload.len = len;
	if (rec_crc32(r->payload.data, len) != r->chunk.crc32) {
		if (!r->silent)
			fprintf(stderr, "kblrecord: %s: chunk at byte %llu is damaged, skipped\n",
				r->path, (unsigned long long)r->at);
		r->payload.len = 0;
		r->damaged = true;
	}
	r->at += sizeof(r->chunk) + len;
	return true;
}

/* Skip the payload, by seeking if the file permits it. */
bool rec_reader_skip(struct rec_reader *r)
{
	r->at += sizeof(r->chunk) + r->chunk.payload_len;
	return lseek(r->fd, r->chunk.payload_len, SEEK_CUR) >= 0;
}
