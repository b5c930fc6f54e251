// SPDX-License-Identifier: MIT
/* The text symbols of this boot, from /proc/kallsyms, by address and by name. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "rec.h"

#define REC_KALLSYMS "/proc/kallsyms"

static int rec_by_addr(const void *a, const void *b)
{
	const struct rec_symbol *x = a, *y = b;

	if (x->addr != y->addr)
		return x->addr < y->addr ? -1 : 1;
	return strcmp(x->name, y->name);
}

/* Parse "ffffffff81000000 T _stext" or "... t veth_xmit\t[veth]"; modifies the line. */
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

static const struct rec_symbol *rec_sorted;	/* the symbols that rec_by_name() compares */

static int rec_by_name(const void *a, const void *b)
{
	kbl_u32 x = *(const kbl_u32 *)a, y = *(const kbl_u32 *)b;
	int order = strcmp(rec_sorted[x].name, rec_sorted[y].name);

	return order ? order : (x > y) - (x < y);
}

static void rec_symbols_index(struct rec_symbols *s)
{
	qsort(s->v, s->n, sizeof(*s->v), rec_by_addr);
	s->by_name = rec_more(NULL, s->n, sizeof(*s->by_name));
	for (size_t i = 0; i < s->n; i++)
		s->by_name[i] = i;
	rec_sorted = s->v;
	qsort(s->by_name, s->n, sizeof(*s->by_name), rec_by_name);
}

/* Load the symbols again.  The caller keeps what it noted as used. */
void rec_symbols_load(struct rec_symbols *s)
{
	char *line, *rest;
	size_t room = 0;

	free(s->text);
	free(s->v);
	free(s->by_name);
	s->v = NULL;
	s->n = 0;
	s->stext = 0;
	s->text = rest = rec_slurp(REC_KALLSYMS);
	if (!rest)
		rec_die(REC_KALLSYMS ": %s", strerror(errno));
	while ((line = rec_line(&rest))) {
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
		rec_die(REC_KALLSYMS " shows no addresses: run as root, with "
			"'sysctl -w kernel.kptr_restrict=1' (2 hides them from root too)");
	rec_symbols_index(s);
}

/* The symbol that contains the address, or NULL. */
struct rec_symbol *rec_symbol_at(const struct rec_symbols *s, kbl_u64 addr)
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

/* The first index of the name in by_name. */
static size_t rec_first_named(const struct rec_symbols *s, const char *name)
{
	size_t low = 0, high = s->n;

	while (low < high) {
		size_t middle = (low + high) / 2;

		if (strcmp(s->v[s->by_name[middle]].name, name) < 0)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

/*
 * Iterate over the symbols of that name and module ("" is the kernel's image, NULL any); NULL
 * after the last.
 */
const struct rec_symbol *rec_symbol_named(const struct rec_symbols *s, const char *name,
					  const char *module, const struct rec_symbol *after)
{
	for (size_t i = rec_first_named(s, name); i < s->n; i++) {
		const struct rec_symbol *symbol = &s->v[s->by_name[i]];

		if (strcmp(symbol->name, name))
			return NULL;
		if ((!module || !strcmp(symbol->module, module)) && (!after || symbol > after))
			return symbol;
	}
	return NULL;
}
