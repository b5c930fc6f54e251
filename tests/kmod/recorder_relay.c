// SPDX-License-Identifier: MIT
/*
 * A CPU's buffer as kbl_read.c hands it out: by read(), or mapped with two ioctls.
 * What was given back is overwritten at once, as the kernel may do: who still
 * needs it then is wrong.
 */
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "kbl_map.h"
#include "recorder_fake.h"

#define SUBBUFS 16

/* KBL_DEBUGFS/cpuN.state: "MAPPED SIZE READY END..." */
struct state {
	int mapped;		/* 0: a module that cannot be mapped */
	size_t size;		/* of a sub-buffer */
	size_t ready;		/* so many are full, the next is being written */
	size_t end[SUBBUFS];	/* of the records in each, so far */
};

static struct {
	size_t subbuf, at;	/* the next byte to be read */
} next[FILES];

static bool state_of(int fd, struct state *s)
{
	char path[4096];
	FILE *in;
	int n = 0;

	snprintf(path, sizeof(path), "%s/%s.state", getenv("KBL_DEBUGFS"), names[fd]);
	in = fopen(path, "r");
	if (!in)
		return false;
	memset(s, 0, sizeof(*s));
	if (fscanf(in, "%d %zu %zu", &s->mapped, &s->size, &s->ready) != 3)
		abort();
	while (n < SUBBUFS && fscanf(in, "%zu", &s->end[n]) == 1)
		n++;
	fclose(in);
	return true;
}

bool relay_is(int fd)
{
	struct state s;

	return state_of(fd, &s);
}

/* Bytes at the reader's place; goes on behind a sub-buffer that is full and used up. */
static size_t readable(int fd, const struct state *s)
{
	for (;;) {
		if (next[fd].at < KBL_MAP_HEAD)
			next[fd].at = KBL_MAP_HEAD;
		if (next[fd].at < s->end[next[fd].subbuf])
			return s->end[next[fd].subbuf] - next[fd].at;
		if (next[fd].subbuf >= s->ready)
			return 0;
		next[fd].subbuf++;
		next[fd].at = 0;
	}
}

static size_t place(int fd, const struct state *s)
{
	return next[fd].subbuf * s->size + next[fd].at;
}

ssize_t relay_read(int fd, void *to, size_t len)
{
	struct state s;
	size_t done = 0, n;

	if (!state_of(fd, &s))
		abort();
	while (done < len && (n = readable(fd, &s))) {
		n = n < len - done ? n : len - done;
		if (pread(fd, (char *)to + done, n, place(fd, &s)) != (ssize_t)n)
			abort();
		next[fd].at += n;
		done += n;
	}
	return done;
}

static int map_next(int fd, const struct state *s, struct kbl_map_part *part)
{
	size_t n = readable(fd, s);
	struct stat st;

	fstat(fd, &st);
	*part = (struct kbl_map_part){ .size = st.st_size };
	if (next[fd].subbuf >= s->ready) {
		errno = EAGAIN;
		return -1;
	}
	part->from = place(fd, s);
	part->to = part->from + n;
	return 0;
}

static int map_done(int fd, const struct state *s, const struct kbl_map_part *part)
{
	struct kbl_map_part now;
	char *waste = malloc(s->size), text[80];

	if (map_next(fd, s, &now) || now.from != part->from || now.to != part->to) {
		append("wrong.log", "DONE of what is not next\n", 25);
		errno = EINVAL;
		return -1;
	}
	memset(waste, 0xaa, s->size);
	if (pwrite(fd, waste, s->size, next[fd].subbuf * s->size) != (ssize_t)s->size)
		abort();
	free(waste);
	snprintf(text, sizeof(text), "%s %zu\n", names[fd], next[fd].subbuf);
	append("mapped.log", text, strlen(text));
	next[fd].subbuf++;
	next[fd].at = 0;
	return 0;
}

int ioctl(int fd, unsigned long request, ...)
{
	struct state s;
	va_list args;
	void *part;

	va_start(args, request);
	part = va_arg(args, void *);
	va_end(args);
	if (fd < 0 || fd >= FILES || !state_of(fd, &s) || !s.mapped) {
		errno = ENOTTY;
		return -1;
	}
	if (request == KBL_MAP_NEXT)
		return map_next(fd, &s, part);
	return map_done(fd, &s, part);
}
