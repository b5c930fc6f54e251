// SPDX-License-Identifier: MIT
/*
 * Read complete records from the relay files, of which each CPU has one.  All files share one
 * buffer that fits into the second-level cache, so the data are still in the cache when they are
 * used.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "rec.h"

#define REC_READS 64	/* reads of one CPU before the next CPU's turn */

static bool rec_cpu_known(const struct rec_cpus *cpus, unsigned int number)
{
	for (size_t i = 0; i < cpus->n; i++)
		if (cpus->v[i].number == number)
			return true;
	return false;
}

static void rec_cpu_open(struct rec_cpus *cpus, const char *name, unsigned int number)
{
	int fd = open(rec_module_path(name), O_RDWR | O_NONBLOCK | O_CLOEXEC);

	if (fd < 0 && errno == EACCES)
		fd = open(rec_module_path(name), O_RDONLY | O_NONBLOCK | O_CLOEXEC);
	if (fd < 0 && errno == EBUSY)
		rec_die("%s: another process reads this buffer%s; only one can",
			rec_module_path(name), rec_holder_file(rec_module_path(name)));
	if (fd < 0)
		rec_die("%s: %s", rec_module_path(name), strerror(errno));
	cpus->v = rec_more(cpus->v, cpus->n + 1, sizeof(*cpus->v));
	cpus->v[cpus->n] = (struct rec_cpu){ .fd = fd, .number = number };
	rec_map_open(&cpus->v[cpus->n++]);
}

/* Open the files cpuN that are not open yet: a CPU may come online later. */
void rec_cpus_find(struct rec_cpus *cpus)
{
	DIR *folder = opendir(rec_module_path(""));
	struct dirent *entry;

	while (folder && (entry = readdir(folder))) {
		unsigned int number;
		char rest;

		if (sscanf(entry->d_name, "cpu%5u%c", &number, &rest) != 1)
			continue;
		if (!rec_cpu_known(cpus, number))
			rec_cpu_open(cpus, entry->d_name, number);
	}
	if (folder)
		closedir(folder);
	if (!cpus->room)
		cpus->room = REC_READ_BYTES;
	if (!cpus->data)
		cpus->data = rec_direct_buffer(cpus->room);
}

/* Wait until a sub-buffer is full, which returns true, or for the given time. */
bool rec_cpus_wait(const struct rec_cpus *cpus, int ms)
{
	struct pollfd fd[cpus->n + 1];

	for (size_t i = 0; i < cpus->n; i++)
		fd[i] = (struct pollfd){ .fd = cpus->v[i].fd, .events = POLLIN };
	return poll(fd, cpus->quiet ? 0 : cpus->n, ms) > 0;
}

/* Returns the bytes read, at most len; fewer mean that there are no more. */
static size_t rec_cpu_read(struct rec_cpus *cpus, const struct rec_cpu *c, size_t len)
{
	ssize_t n;

	do
		n = read(c->fd, cpus->data + c->have, len);
	while (n < 0 && errno == EINTR);
	if (n < 0 && errno != EAGAIN) {
		if (errno != EIO && errno != ENODEV)
			rec_die("cpu%u: %s", c->number, strerror(errno));
		cpus->gone = true;
	}
	return n < 0 ? 0 : n;
}

/* Pass the complete records at data on; keep the rest in tail. */
static kbl_u64 rec_cpu_take(struct rec_cpu *c, struct rec_symbols *s, const struct rec_sink *to,
			    char *data, size_t len, kbl_u64 limit)
{
	struct rec_walk walk = { .limit = limit };
	size_t whole = rec_walk(&walk, s, data, len);

	c->have = len - whole < REC_TAIL ? len - whole : 0;
	memcpy(c->tail, data + whole, c->have);
	if (walk.heads)
		to->take(to->self, c->number, &walk, data, whole);
	return walk.heads;
}

/* Read at most len bytes; *more: there may be more now. */
static kbl_u64 rec_cpu_copy(struct rec_cpus *cpus, struct rec_cpu *c, struct rec_symbols *s,
			    const struct rec_sink *to, size_t len, kbl_u64 limit, bool *more)
{
	size_t have = c->have, room = cpus->room - have, n;

	n = rec_cpu_read(cpus, c, len < room ? len : room);
	if (n < len)
		*more = n == room;
	if (!n)
		return 0;
	cpus->bytes += n;
	memcpy(cpus->data, c->tail, have);
	return rec_cpu_take(c, s, to, cpus->data, have + n, limit);
}

/* Read full sub-buffers first; if there were any, one that is not full waits for the next turn. */
static kbl_u64 rec_cpu_drain(struct rec_cpus *cpus, struct rec_cpu *c, struct rec_symbols *s,
			     const struct rec_sink *to, kbl_u64 limit)
{
	bool more = true, full = false;
	kbl_u64 heads = 0;

	for (int i = 0; i < REC_READS && more && (!limit || heads < limit); i++) {
		kbl_u64 left = limit ? limit - heads : 0;
		size_t len = cpus->room;
		char *data = NULL;

		if (rec_map_next(c, &data, &len))
			full = true;
		else if (full)
			break;
		if (data) {
			cpus->bytes += len;
			heads += rec_cpu_take(c, s, to, data, len, left);
			rec_map_done(c, data, len);
		} else {
			heads += rec_cpu_copy(cpus, c, s, to, len, left, &more);
		}
	}
	return heads;
}

/*
 * Read all CPUs once.  Returns the number of records passed on, at most limit unless that is 0;
 * records after them are discarded then.
 */
kbl_u64 rec_cpus_drain(struct rec_cpus *cpus, struct rec_symbols *s, const struct rec_sink *to,
		       kbl_u64 limit)
{
	kbl_u64 heads = 0, bytes = cpus->bytes;

	for (size_t i = 0; i < cpus->n && (!limit || heads < limit); i++)
		heads += rec_cpu_drain(cpus, &cpus->v[i], s, to, limit ? limit - heads : 0);
	cpus->quiet = cpus->bytes == bytes;
	return heads;
}
