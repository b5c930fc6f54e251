// SPDX-License-Identifier: MIT
/* Chunks onto the disk, whole or not at all; and the little memory they need. */
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "rec.h"

void rec_die(const char *format, ...)
{
	va_list args;

	fputs("kblrecord: ", stderr);
	va_start(args, format);
	vfprintf(stderr, format, args);
	va_end(args);
	fputc('\n', stderr);
	exit(1);
}

void *rec_more(void *old, size_t count, size_t size)
{
	void *p = reallocarray(old, count, size);

	if (!p)
		rec_die("out of memory");
	return p;
}

void rec_append(struct rec_bytes *to, const void *data, size_t len)
{
	if (to->len + len > to->room) {
		to->room = 2 * (to->len + len);
		to->data = rec_more(to->data, to->room, 1);
	}
	memcpy(to->data + to->len, data, len);
	to->len += len;
}

/* A file of unknown size (procfs, debugfs) as one NUL-terminated text. */
char *rec_slurp(const char *path, size_t *len)
{
	struct rec_bytes text = {};
	char part[65536];
	int fd = open(path, O_RDONLY);
	ssize_t n;

	if (fd < 0)
		rec_die("%s: %s", path, strerror(errno));
	while ((n = read(fd, part, sizeof(part))) > 0)
		rec_append(&text, part, n);
	if (n < 0)
		rec_die("%s: %s", path, strerror(errno));
	close(fd);
	rec_append(&text, "", 1);
	if (len)
		*len = text.len - 1;
	return text.data;
}

/* IEEE 802.3, as zlib's. */
static kbl_u32 rec_crc32(const void *data, size_t len)
{
	static kbl_u32 table[256];
	const unsigned char *p = data;
	kbl_u32 crc = ~0u;

	for (kbl_u32 i = 0; !table[255] && i < 256; i++) {
		table[i] = i;
		for (int bit = 0; bit < 8; bit++)
			table[i] = table[i] & 1 ? 0xedb88320u ^ table[i] >> 1 : table[i] >> 1;
	}
	while (len--)
		crc = table[(crc ^ *p++) & 0xff] ^ crc >> 8;
	return ~crc;
}

/* What cannot be written whole is cut off again: the file stays readable. */
static void rec_write(struct rec_file *f, const char *data, size_t len)
{
	while (len) {
		ssize_t n = write(f->fd, data, len);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0) {
			int err = errno;

			if (ftruncate(f->fd, f->good))
				fprintf(stderr, "kblrecord: %s: the last chunk is cut\n", f->path);
			rec_die("%s: %s; the %llu bytes before are kept", f->path, strerror(err),
				(unsigned long long)f->good);
		}
		data += n;
		len -= n;
	}
}

void rec_open(struct rec_file *f, const char *path, const struct kbl_file_header *header)
{
	f->path = path;
	f->fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	if (f->fd < 0 || fchmod(f->fd, 0600))
		rec_die("%s: %s", path, strerror(errno));
	rec_string(f, "");
	rec_write(f, (const char *)header, sizeof(*header));
	f->good = sizeof(*header);
}

/* Completes the header and writes the chunk, its payload padded with zeros. */
void rec_chunk(struct rec_file *f, struct kbl_chunk_header *header, const void *payload,
	       size_t len)
{
	size_t padded = (len + 7) & ~(size_t)7;
	struct rec_bytes chunk = {};

	rec_append(&chunk, header, sizeof(*header));
	rec_append(&chunk, payload, len);
	rec_append(&chunk, "\0\0\0\0\0\0\0", padded - len);
	header->magic = KBL_CHUNK_MAGIC;
	header->payload_len = padded;
	header->crc32 = rec_crc32(chunk.data + sizeof(*header), padded);
	header->header_crc32 = rec_crc32(header, offsetof(struct kbl_chunk_header, header_crc32));
	memcpy(chunk.data, header, sizeof(*header));
	rec_write(f, chunk.data, chunk.len);
	f->good += chunk.len;
	free(chunk.data);
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

/* The string's offset in the STRINGS table, which only grows. */
kbl_u32 rec_string(struct rec_file *f, const char *text)
{
	kbl_u32 at = f->strings.len;

	if (!*text && f->strings.len)
		return 0;
	rec_append(&f->strings, text, strlen(text) + 1);
	return at;
}
