// SPDX-License-Identifier: MIT
/* The text symbols of this boot, from /proc/kallsyms. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "rec.h"

static int rec_by_addr(const void *a, const void *b)
{
	const struct rec_symbol *x = a, *y = b;

	if (x->addr != y->addr)
		return x->addr < y->addr ? -1 : 1;
	return strcmp(x->name, y->name);
}

/* "ffffffff81000000 T _stext" or "... t veth_xmit\t[veth]"; cuts the line up. */
static bool rec_symbol_parse(char *line, struct rec_symbol *symbol)
{
	char *end, *module;

	symbol->addr = strtoull(line, &end, 16);
	if (end == line || end[0] != ' ' || !end[1] || end[2] != ' ')
		return false;
	if (!strchr("tTwW", end[1]))
		return false;
	symbol->name = end + 3;
	symbol->module = "";
	symbol->used = false;
	module = strchr(end + 3, '\t');
	if (module) {
		*module = 0;
		symbol->module = module + 2;
		module[1 + strcspn(module + 1, "]")] = 0;
	}
	return true;
}

void rec_symbols_load(struct rec_symbols *s)
{
	size_t room = 0;
	char *line, *rest;

	s->text = rec_slurp("/proc/kallsyms", NULL);
	rest = s->text;
	while ((line = strsep(&rest, "\n"))) {
		if (s->n == room) {
			room = room ? 2 * room : 65536;
			s->v = rec_more(s->v, room, sizeof(*s->v));
		}
		if (!rec_symbol_parse(line, &s->v[s->n]))
			continue;
		if (!strcmp(s->v[s->n].name, "_stext"))
			s->stext = s->v[s->n].addr;
		s->n++;
	}
	if (!s->stext)
		rec_die("/proc/kallsyms shows no addresses: run as root, with "
			"'sysctl -w kernel.kptr_restrict=1' (2 hides them from root too)");
	qsort(s->v, s->n, sizeof(*s->v), rec_by_addr);
}

/* The symbol that contains the address, or NULL. */
struct rec_symbol *rec_symbol_at(struct rec_symbols *s, kbl_u64 addr)
{
	size_t low = 0, high = s->n;

	while (low < high) {
		size_t middle = (low + high) / 2;

		if (s->v[middle].addr <= addr)
			low = middle + 1;
		else
			high = middle;
	}
	return low ? &s->v[low - 1] : NULL;
}

/* Only the used ones: all of them would be megabytes. */
void rec_symbols_write(struct rec_symbols *s, struct rec_file *f)
{
	struct rec_bytes table = {};
	size_t n = 0;

	for (size_t i = 0; i < s->n; i++) {
		struct kbl_symbol symbol = { .addr = s->v[i].addr };

		if (!s->v[i].used)
			continue;
		symbol.name = rec_string(f, s->v[i].name);
		symbol.module = rec_string(f, s->v[i].module);
		rec_append(&table, &symbol, sizeof(symbol));
		n++;
	}
	rec_table(f, KBL_CHUNK_STRINGS, f->strings.data, 1, f->strings.len);
	rec_table(f, KBL_CHUNK_SYMBOLS, table.data, n, table.len);
	free(table.data);
}
