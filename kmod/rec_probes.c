// SPDX-License-Identifier: MIT
/* The probe list: from the file, to the module, into the log. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "rec.h"

static const struct {
	const char *name;
	unsigned int event;
} rec_events[] = {
	{ "-", 0 },
	{ "alloc", KBL_EV_ALLOC },
	{ "clone", KBL_EV_CLONE },
	{ "copy", KBL_EV_COPY },
	{ "segment", KBL_EV_SEGMENT },
	{ "free", KBL_EV_FREE },
	{ "consume", KBL_EV_CONSUME },
	{ "drop", KBL_EV_DROP },
	{ "defer_free", KBL_EV_DEFER_FREE },
};

static unsigned int rec_event(const char *path, int line, const char *name)
{
	for (size_t i = 0; i < sizeof(rec_events) / sizeof(rec_events[0]); i++)
		if (!strcmp(rec_events[i].name, name))
			return rec_events[i].event;
	rec_die("%s:%d: unknown event '%s'", path, line, name);
}

static void rec_probe_add(struct rec_probes *p, const struct rec_probe *probe, kbl_u64 addr)
{
	struct rec_probe *to;

	if (p->n == p->room) {
		p->room = p->room ? 2 * p->room : 256;
		p->v = rec_more(p->v, p->room, sizeof(*p->v));
	}
	to = &p->v[p->n++];
	*to = *probe;
	to->slot = (struct kbl_probe){
		.arg = probe->arg[0] == '-' ? 0xff : atoi(probe->arg + (probe->arg[0] == '*')),
		.ret = probe->ret,
		.event = probe->event,
		.mechanism = 1,
		.error = addr ? 0 : -ENOENT,
		.addr = addr,
	};
}

/* A name may stand for several addresses; one that is nowhere is kept, unarmed. */
static void rec_probe_resolve(struct rec_probes *p, const struct rec_probe *probe,
			      const struct rec_symbols *s)
{
	bool found = false;

	for (size_t i = 0; i < s->n; i++) {
		if (strcmp(s->v[i].name, probe->name) || strcmp(s->v[i].module, probe->module))
			continue;
		rec_probe_add(p, probe, s->v[i].addr);
		found = true;
	}
	if (!found)
		rec_probe_add(p, probe, 0);
}

static int rec_found_first(const void *a, const void *b)
{
	const struct rec_probe *x = a, *y = b;

	if (!x->slot.addr != !y->slot.addr)
		return x->slot.addr ? -1 : 1;
	if (strcmp(x->name, y->name))
		return strcmp(x->name, y->name);
	return (x->slot.addr > y->slot.addr) - (x->slot.addr < y->slot.addr);
}

/* Lines "name argindex returns_skb event [module]", # begins a comment. */
void rec_probes_load(struct rec_probes *p, const char *path, const struct rec_symbols *s)
{
	char *text = rec_slurp(path, NULL), *rest = text, *line;

	for (int number = 1; (line = strsep(&rest, "\n")); number++) {
		struct rec_probe probe = {};
		char event[16];
		int fields;

		line[strcspn(line, "#")] = 0;
		fields = sscanf(line, "%63s %7s %u %15s %31s", probe.name, probe.arg, &probe.ret,
				event, probe.module);
		if (fields <= 0)
			continue;
		if (fields < 4)
			rec_die("%s:%d: not 'name argindex returns_skb event [module]'", path,
				number);
		probe.event = rec_event(path, number, event);
		rec_probe_resolve(p, &probe, s);
	}
	free(text);
	/* The module numbers the lines it gets from 0; the others follow. */
	qsort(p->v, p->n, sizeof(*p->v), rec_found_first);
	for (size_t i = 0; i < p->n; i++)
		p->v[i].slot.id = i;
	if (!p->n || !p->v[0].slot.addr)
		rec_die("%s: none of its functions is in this kernel", path);
}

void rec_probes_send(struct rec_probes *p)
{
	int fd = open(REC_DEBUGFS "/probes", O_WRONLY);

	for (size_t i = 0; fd >= 0 && i < p->n && p->v[i].slot.addr; i++) {
		struct rec_probe *probe = &p->v[i];

		if (dprintf(fd, "%llx %s %u %u %s %s", (unsigned long long)probe->slot.addr,
			    probe->arg, probe->ret, probe->event, probe->name, probe->module) < 0)
			rec_die("the module refuses %s: %s", probe->name, strerror(errno));
	}
	if (fd < 0 || close(fd))
		rec_die(REC_DEBUGFS "/probes: %s", strerror(errno));
}

/* What became of them: armed or why not, hits and missed hits. */
void rec_probes_update(struct rec_probes *p)
{
	char *text = rec_slurp(REC_DEBUGFS "/probes", NULL), *rest = text, *line;

	while ((line = strsep(&rest, "\n"))) {
		unsigned long long addr, hits, missed;
		unsigned int id;
		int armed, error;

		if (sscanf(line, "%u %llx %d %d %llu %llu", &id, &addr, &armed, &error, &hits,
			   &missed) != 6 || id >= p->n)
			continue;
		p->v[id].slot.addr = error ? 0 : addr;
		p->v[id].slot.error = error;
		p->v[id].slot.hits = hits;
		p->v[id].slot.missed = missed;
	}
	free(text);
}

size_t rec_probes_armed(const struct rec_probes *p)
{
	size_t armed = 0;

	for (size_t i = 0; i < p->n; i++)
		armed += p->v[i].slot.addr != 0;
	return armed;
}

void rec_probes_write(struct rec_probes *p, struct rec_file *f)
{
	struct kbl_probe *table = rec_more(NULL, p->n, sizeof(*table));

	for (size_t i = 0; i < p->n; i++) {
		struct rec_probe *probe = &p->v[i];

		if (!probe->slot.name) {
			probe->slot.name = rec_string(f, probe->name);
			probe->slot.module = rec_string(f, probe->module);
		}
		table[i] = probe->slot;
	}
	rec_table(f, KBL_CHUNK_STRINGS, f->strings.data, 1, f->strings.len);
	rec_table(f, KBL_CHUNK_PROBES, table, p->n, p->n * sizeof(*table));
	free(table);
}
