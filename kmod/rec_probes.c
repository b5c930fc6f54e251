// SPDX-License-Identifier: MIT
/*
 * The functions to probe: send their list to the kernel module, read their state, and write them
 * to the log.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "rec.h"

#define REC_LISTED 5	/* at most so many unprobed functions are named */

static const char *const rec_kinds[] = { "none", "skb", "skbp", "list", "queue", "sock" };

struct rec_probe *rec_probe_add(struct rec_probes *p, const struct rec_probe *probe)
{
	if (p->n == p->room) {
		p->room = p->room ? 2 * p->room : 256;
		p->v = rec_more(p->v, p->room, sizeof(*p->v));
	}
	p->v[p->n] = *probe;
	p->v[p->n].slot.id = REC_NO_PROBE;
	return &p->v[p->n++];
}

/* Parse "skb@0" or "sock@ret"; returns -1 if it is neither. */
int rec_carrier_named(const char *word)
{
	size_t len = strcspn(word, "@");
	unsigned int at;
	char rest;

	for (int kind = KBL_CARRY_SKB; kind <= KBL_CARRY_SOCK; kind++) {
		if (strlen(rec_kinds[kind]) != len || strncmp(word, rec_kinds[kind], len))
			continue;
		if (!strcmp(word + len, "@ret"))
			return kind == KBL_CARRY_SKB || kind == KBL_CARRY_SOCK ?
				       kind << 4 | KBL_AT_RET : -1;
		if (sscanf(word + len, "@%2u%c", &at, &rest) == 1 && at < KBL_AT_RET)
			return kind << 4 | at;
	}
	return -1;
}

/* The probe as a line for the module; valid until the next call. */
static const char *rec_probe_line(const struct rec_probe *probe)
{
	static char line[1024];
	size_t at = snprintf(line, sizeof(line), "%s 0x%llx", probe->name,
			     (unsigned long long)probe->asked);

	for (int i = 0; i < KBL_MAX_CARRIERS && probe->slot.carrier[i]; i++) {
		unsigned int carrier = probe->slot.carrier[i], where = carrier & 15;

		at += snprintf(line + at, sizeof(line) - at, " %s@", rec_kinds[carrier >> 4]);
		if (where == KBL_AT_RET)
			at += snprintf(line + at, sizeof(line) - at, "ret");
		else
			at += snprintf(line + at, sizeof(line) - at, "%u", where);
	}
	snprintf(line + at, sizeof(line) - at, "%s%s%s%s%s%s%s", probe->slot.event ? " " : "",
		 rec_event_name(probe->slot.event), *probe->module ? " module=" : "",
		 probe->module, *probe->returns ? " " : "", probe->returns,
		 probe->quiet ? " quiet" : probe->slot.flags & KBL_PROBE_INNER ? " inner" : "");
	return line;
}

/* Write one line at a time: if the module refuses it, the others are still probed. */
void rec_probes_send(struct rec_probes *p)
{
	int fd = open(rec_module_path("probes"), O_WRONLY | O_CLOEXEC);

	if (fd < 0)
		rec_die("%s: %s", rec_module_path("probes"), strerror(errno));
	for (size_t i = 0; i < p->n; i++) {
		struct rec_probe *probe = &p->v[i];
		char line[1026];
		int len;

		if (!probe->asked)
			continue;
		len = snprintf(line, sizeof(line), "%s\n", rec_probe_line(probe));
		if (write(fd, line, len) == len)
			continue;
		probe->slot.error = -errno;
		fprintf(stderr, "kblrecord: %s:%d: the kernel module refuses '%s': %s\n",
			probe->list, probe->line, probe->name,
			errno == EDEADLK ? "it calls that function itself while it records"
					 : strerror(errno));
	}
	close(fd);
}

/* The module keeps the order of the lines, so it is nearly always the next one. */
static struct rec_probe *rec_probe_find(struct rec_probes *p, kbl_u64 addr, const char *name)
{
	static size_t next;

	for (size_t i = 0; i < p->n; i++, next++) {
		struct rec_probe *probe = &p->v[next % p->n];

		if (probe->asked == addr && !strcmp(probe->name, name))
			return probe;
	}
	return NULL;
}

static unsigned int rec_mechanism(const char *word)
{
	return !strcmp(word, "kretprobe") ? KBL_BY_KRETPROBE :
	       !strcmp(word, "fprobe") ? KBL_BY_FPROBE :
	       !strcmp(word, "source") ? KBL_BY_SOURCE : 0;
}

/* Parse "id addr armed error hits missed mechanism carriers name [module]". */
static void rec_probe_update(struct rec_probes *p, const char *line)
{
	unsigned long long addr, hits, missed;
	struct rec_probe *probe;
	char mechanism[16], name[512], module[64] = "";
	unsigned int id;
	int armed, error;

	if (sscanf(line, "%u %llx %d %d %llu %llu %15s %*s %511s %63s", &id, &addr, &armed,
		   &error, &hits, &missed, mechanism, name, module) < 8)
		return;
	probe = rec_probe_find(p, addr, name);
	if (!probe)
		probe = rec_probe_add(p, &(struct rec_probe){ .name = rec_copy(name),
							      .module = rec_copy(module),
							      .asked = addr,
							      .list = "",
							      .returns = "" });
	probe->slot.id = id;
	probe->slot.addr = error ? 0 : addr;
	probe->slot.error = error;
	probe->slot.hits = hits;
	probe->slot.missed = missed;
	/* At the end nothing is armed any more: the mechanism is the one that was used last. */
	probe->slot.mechanism = rec_mechanism(mechanism);
}

/* Read the state of all probes.  Functions that the kernel does not have get the last numbers. */
void rec_probes_update(struct rec_probes *p)
{
	char *text = rec_module_read("probes"), *rest = text, *line;
	kbl_u32 next = 0;

	while (text && (line = rec_line(&rest)))
		rec_probe_update(p, line);
	free(text);
	for (size_t i = 0; i < p->n; i++)
		if (p->v[i].asked && p->v[i].slot.id != REC_NO_PROBE && p->v[i].slot.id >= next)
			next = p->v[i].slot.id + 1;
	for (size_t i = 0; i < p->n; i++)
		if (!p->v[i].asked || p->v[i].slot.id == REC_NO_PROBE)
			p->v[i].slot.id = next++;
}

size_t rec_probes_armed(const struct rec_probes *p)
{
	size_t armed = 0;

	for (size_t i = 0; i < p->n; i++)
		armed += p->v[i].slot.addr != 0;
	return armed;
}

static const char *rec_probe_why(int error)
{
	switch (-error) {
	case ENOENT:
		return "not in this kernel";
	case EBUSY:
		return "another function of the list has the same code";
	case EINVAL:
		return "the kernel allows no probe there";
	case EDEADLK:
		return "the kernel module calls it itself while it records";
	}
	return strerror(-error);
}

/* Report which functions are not probed and why.  A list for another kernel may have many. */
void rec_probes_report(const struct rec_probes *p)
{
	size_t listed = 0, more = 0;

	for (size_t i = 0; i < p->n; i++) {
		const struct rec_probe *probe = &p->v[i];

		if (probe->slot.addr)
			continue;
		if (listed == REC_LISTED) {
			more++;
			continue;
		}
		listed++;
		fprintf(stderr, "kblrecord: not probed: %s: %s\n", probe->name,
			probe->slot.error ? rec_probe_why(probe->slot.error) : "not armed");
	}
	if (more)
		fprintf(stderr, "kblrecord: not probed: %zu more\n", more);
}

static int rec_by_id(const void *a, const void *b)
{
	const struct kbl_probe *x = a, *y = b;

	return (x->id > y->id) - (x->id < y->id);
}

/* Write STRINGS and PROBES. */
void rec_probes_write(struct rec_probes *p, struct rec_symbols *s, struct rec_file *f)
{
	struct kbl_probe *table = rec_more(NULL, p->n + 1, sizeof(*table));

	for (size_t i = 0; i < p->n; i++) {
		struct rec_probe *probe = &p->v[i];

		if (!probe->slot.name) {
			probe->slot.name = rec_string(s, probe->name);
			probe->slot.module = rec_string(s, probe->module);
		}
		table[i] = probe->slot;
		if (p->polled)
			table[i].missed = probe->slot.id < p->nr_missed ?
						  p->missed[probe->slot.id] : 0;
	}
	qsort(table, p->n, sizeof(*table), rec_by_id);
	rec_table(f, KBL_CHUNK_STRINGS, s->strings.data, 1, s->strings.len);
	rec_table(f, KBL_CHUNK_PROBES, table, p->n, p->n * sizeof(*table));
	free(table);
}
