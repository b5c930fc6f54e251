// SPDX-License-Identifier: MIT
/* Growing memory, reading small files, and exiting with a message. */
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "rec.h"

void rec_die(const char *format, ...)
{
	va_list args;

	fflush(stdout);
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

char *rec_copy(const char *text)
{
	return strcpy(rec_more(NULL, strlen(text) + 1, 1), text);
}

void rec_append(struct rec_bytes *to, const void *data, size_t len)
{
	if (to->len + len > to->room) {
		to->room = 2 * (to->len + len);
		to->data = rec_more(to->data, to->room, 1);
	}
	if (len)
		memcpy(to->data + to->len, data, len);
	to->len += len;
}

/* The current time of CLOCK_MONOTONIC. */
kbl_u64 rec_now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec * 1000000000ull + now.tv_nsec;
}

/* Read a file of unknown size (procfs, debugfs) as a NUL-terminated text; NULL with errno. */
char *rec_slurp(const char *path)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	struct rec_bytes text = {};
	char part[65536];
	ssize_t n;

	if (fd < 0)
		return NULL;
	while ((n = read(fd, part, sizeof(part))) > 0)
		rec_append(&text, part, n);
	if (n < 0) {
		int err = errno;

		close(fd);
		free(text.data);
		errno = err;
		return NULL;
	}
	close(fd);
	rec_append(&text, "", 1);
	return text.data;
}

/* Return the next line that is neither empty nor a comment; modifies the text. */
char *rec_line(char **rest)
{
	char *line;

	while ((line = strsep(rest, "\n")))
		if (*line && *line != '#')
			return line;
	return NULL;
}
