// SPDX-License-Identifier: MIT
/* Write each chunk to disk completely, or not at all. */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

#include "rec.h"

static const char rec_zeros[8];

/* Cut off a chunk that could not be written completely, so that the file stays readable. */
void rec_file_failed(struct rec_file *f)
{
	const char *path = strcmp(f->path, "-") ? f->path : "standard output";
	int err = errno;

	if (ftruncate(f->fd, f->good))	/* a pipe, or a device */
		rec_die("%s: %s", path, strerror(err));
	rec_die("%s: %s; the %llu bytes before are kept", path, strerror(err),
		(unsigned long long)f->good);
}

/* Removes the parts as they are written. */
static void rec_write(struct rec_file *f, struct iovec *part, int parts)
{
	while (parts) {
		ssize_t n = writev(f->fd, part, parts);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			rec_file_failed(f);
		while (parts && (size_t)n >= part->iov_len) {
			n -= part->iov_len;
			part++;
			parts--;
		}
		if (parts) {
			part->iov_base = (char *)part->iov_base + n;
			part->iov_len -= n;
		}
	}
}

void rec_file_open(struct rec_file *f, const char *path, const struct kbl_file_header *header)
{
	struct iovec part = { (void *)header, sizeof(*header) };
	struct stat about;

	*f = (struct rec_file){ .path = path, .direct = -1, .cpu_seq = f->cpu_seq,
				.cpus = f->cpus };
	for (size_t i = 0; i < f->cpus; i++)
		f->cpu_seq[i] = 0;
	if (!strcmp(path, "-"))
		f->fd = STDOUT_FILENO;
	else
		f->fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	if (f->fd < 0 || fstat(f->fd, &about))
		rec_die("%s: %s", path, strerror(errno));
	/* Others may have the old file open. */
	if (f->fd != STDOUT_FILENO && S_ISREG(about.st_mode) && fchmod(f->fd, 0600))
		rec_die("%s: %s", path, strerror(errno));
	rec_write(f, &part, 1);
	f->good = sizeof(*header);
	if (f->fd != STDOUT_FILENO && S_ISREG(about.st_mode))
		rec_direct_open(f);
}

/* Write the complete chunks at data. */
void rec_file_write(struct rec_file *f, const void *data, size_t len)
{
	struct iovec part = { (void *)data, len };

	rec_write(f, &part, 1);
	f->good += len;
}

void rec_file_close(struct rec_file *f)
{
	if (f->direct >= 0)
		close(f->direct);
	if (close(f->fd))
		rec_die("%s: %s", f->path, strerror(errno));
}

/* len is a multiple of 8. */
void rec_chunk_complete(struct kbl_chunk_header *header, const void *payload, size_t len)
{
	header->magic = KBL_CHUNK_MAGIC;
	header->payload_len = len;
	header->crc32 = rec_crc32(payload, len);
	header->header_crc32 = rec_crc32(header, offsetof(struct kbl_chunk_header, header_crc32));
}

/* Complete the header and write the chunk, its payload padded with zeros. */
static void rec_chunk(struct rec_file *f, struct kbl_chunk_header *header, const void *payload,
		      size_t len)
{
	size_t pad = -len & 7;
	struct iovec part[] = { { header, sizeof(*header) }, { NULL, len + pad } };
	struct rec_bytes padded = {};

	if (pad) {
		rec_append(&padded, payload, len);
		rec_append(&padded, rec_zeros, pad);
	}
	part[1].iov_base = pad ? padded.data : (void *)payload;
	rec_chunk_complete(header, part[1].iov_base, len + pad);
	rec_write(f, part, len ? 2 : 1);
	f->good += sizeof(*header) + len + pad;
	free(padded.data);
}

void rec_table(struct rec_file *f, enum kbl_chunk_type type, const void *payload, size_t items,
	       size_t len)
{
	struct kbl_chunk_header header = {
		.type = type,
		.cpu = 0xffff,
		.seq = f->table_seq++,
		.nr_items = items,
	};

	rec_chunk(f, &header, payload, len);
}

/* The sequence number of the next chunk of a CPU, or of kblrecord itself. */
static kbl_u64 rec_records_seq(struct rec_file *f, unsigned int cpu)
{
	if (cpu == KBL_CPU_RECORDER)
		return f->own_seq++;
	if (cpu >= f->cpus) {
		f->cpu_seq = rec_more(f->cpu_seq, cpu + 1, sizeof(*f->cpu_seq));
		memset(f->cpu_seq + f->cpus, 0, (cpu + 1 - f->cpus) * sizeof(*f->cpu_seq));
		f->cpus = cpu + 1;
	}
	return f->cpu_seq[cpu]++;
}

/*
 * If the payload begins one header after the start of a block, the bytes around it are
 * overwritten.
 */
void rec_records(struct rec_file *f, unsigned int cpu, const struct rec_walk *walk,
		 char *payload, size_t len)
{
	struct kbl_chunk_header header = {
		.type = KBL_CHUNK_RECORDS,
		.cpu = cpu,
		.seq = rec_records_seq(f, cpu),
		.first_ns = walk->first_ns,
		.last_ns = walk->last_ns,
		.nr_items = walk->heads,
	};

	if (!rec_direct_chunk(f, &header, payload, len))
		rec_chunk(f, &header, payload, len);
}
