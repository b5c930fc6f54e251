// SPDX-License-Identifier: MIT
/* The kernel's memory, from /proc/kcore: an ELF core whose segments are ranges of addresses. */
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "rec_code.h"

#define REC_KCORE "/proc/kcore"

/*
 * Returns the number of bytes that were read.  If they are too few because the file ends, errno
 * is 0.
 */
static size_t rec_kcore_get(const struct rec_kcore *k, void *to, size_t len, kbl_u64 at)
{
	size_t done = 0;

	while (done < len) {
		ssize_t n = pread(k->fd, (char *)to + done, len - done, at + done);

		if (n > 0) {
			done += n;
		} else if (!n || errno != EINTR) {
			errno = n ? errno : 0;
			break;
		}
	}
	return done;
}

/* Returns NULL, or why len bytes of the headers cannot be read. */
static const char *rec_kcore_header(struct rec_kcore *k, void *to, size_t len, kbl_u64 at)
{
	size_t got = rec_kcore_get(k, to, len, at);

	if (got == len)
		return NULL;
	snprintf(k->why, sizeof(k->why), "%s inside its headers, at byte %llu",
		 errno ? "cannot be read" : "is cut", (unsigned long long)(at + got));
	return k->why;
}

static void rec_kcore_segments(struct rec_kcore *k, const Elf64_Phdr *header, size_t n)
{
	k->segment = rec_more(NULL, n, sizeof(*k->segment));
	for (size_t i = 0; i < n; i++) {
		if (header[i].p_type != PT_LOAD)
			continue;
		k->segment[k->n++] = (struct rec_segment){ header[i].p_vaddr, header[i].p_memsz,
							   header[i].p_offset };
	}
}

/* Returns NULL, or why the file cannot be used. */
static const char *rec_kcore_headers(struct rec_kcore *k)
{
	Elf64_Phdr *header;
	Elf64_Ehdr file;
	const char *why = rec_kcore_header(k, &file, sizeof(file), 0);

	if (why)
		return why;
	if (memcmp(file.e_ident, ELFMAG, SELFMAG) || file.e_ident[EI_CLASS] != ELFCLASS64 ||
	    file.e_phentsize != sizeof(*header) || !file.e_phnum)
		return "is no 64-bit ELF core file";
	header = rec_more(NULL, file.e_phnum, sizeof(*header));
	why = rec_kcore_header(k, header, file.e_phnum * sizeof(*header), file.e_phoff);
	if (!why)
		rec_kcore_segments(k, header, file.e_phnum);
	free(header);
	if (why)
		return why;
	return k->n ? NULL : "has no segments";
}

/*
 * Returns NULL, or why the kernel's memory cannot be read: lockdown, not root, no such file.
 * The text may be in *k.
 */
const char *rec_kcore_open(struct rec_kcore *k)
{
	const char *why;

	*k = (struct rec_kcore){ .fd = open(REC_KCORE, O_RDONLY | O_CLOEXEC) };
	if (k->fd < 0)
		return strerror(errno);
	why = rec_kcore_headers(k);
	if (why)
		rec_kcore_close(k);
	return why;
}

void rec_kcore_close(struct rec_kcore *k)
{
	close(k->fd);
	free(k->segment);
}

/* Read len bytes at the address, less if its segment ends; returns their number, 0 = none. */
size_t rec_kcore_read(const struct rec_kcore *k, kbl_u64 addr, void *to, size_t len)
{
	for (size_t i = 0; i < k->n; i++) {
		const struct rec_segment *s = &k->segment[i];
		kbl_u64 into = addr - s->addr;

		if (addr < s->addr || into >= s->size)
			continue;
		if (len > s->size - into)
			len = s->size - into;
		return rec_kcore_get(k, to, len, s->offset + into) == len ? len : 0;
	}
	return 0;
}
