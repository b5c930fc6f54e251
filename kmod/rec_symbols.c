// SPDX-License-Identifier: MIT
/*
 * The symbols to which records refer.  They are collected during the recording, and written from
 * time to time.
 */
#include <stdlib.h>
#include <string.h>

#include "rec.h"

/*
 * The offset of the string in the STRINGS table, which only grows.  Offset 0 is the empty
 * string.
 */
kbl_u32 rec_string(struct rec_symbols *s, const char *text)
{
	kbl_u32 at;

	if (!s->strings.len)
		rec_append(&s->strings, "", 1);
	if (!*text)
		return 0;
	at = s->strings.len;
	rec_append(&s->strings, text, strlen(text) + 1);
	return at;
}

/* Many symbols share a module, whose name is stored once. */
static kbl_u32 rec_module_string(struct rec_symbols *s, const char *module)
{
	const struct kbl_symbol *used = (const void *)s->used.data;

	for (size_t i = s->used.len / sizeof(*used); *module && i-- > 0;)
		if (!strcmp(s->strings.data + used[i].module, module))
			return used[i].module;
	return rec_string(s, module);
}

/*
 * Add a symbol without a name at the symbol's end.  The symbols in between are not written, so
 * an address after the end would seem to belong to it.
 */
static void rec_symbol_end(struct rec_symbols *s, const struct rec_symbol *symbol)
{
	struct kbl_symbol end = {};

	if (symbol + 1 == s->v + s->n || symbol[1].used)
		return;
	end.addr = symbol[1].addr;
	rec_append(&s->used, &end, sizeof(end));
}

/* Note the symbol that contains the address. */
void rec_symbols_use(struct rec_symbols *s, kbl_u64 addr)
{
	struct rec_symbol *symbol = rec_symbol_at(s, addr);
	struct kbl_symbol used = {};

	if (!symbol || symbol->used)
		return;
	symbol->used = true;
	used.addr = symbol->addr;
	used.name = rec_string(s, symbol->name);
	used.module = rec_module_string(s, symbol->module);
	rec_append(&s->used, &used, sizeof(used));
	rec_symbol_end(s, symbol);
}

/*
 * A kernel module was loaded or unloaded: load all symbols again, forget which callers were
 * seen.
 */
void rec_symbols_reload(struct rec_symbols *s)
{
	const struct kbl_symbol *used = (const void *)s->used.data;

	rec_symbols_load(s);
	for (size_t i = 0; i < s->used.len / sizeof(*used); i++) {
		struct rec_symbol *symbol = rec_symbol_at(s, used[i].addr);

		if (symbol && symbol->addr == used[i].addr &&
		    !strcmp(symbol->name, s->strings.data + used[i].name))
			symbol->used = true;
	}
	for (int i = 0; i < REC_CALLERS; i++)
		s->callers[i] = i + 1;
	s->stale = false;
}

static int rec_used_by_addr(const void *a, const void *b)
{
	const struct kbl_symbol *x = a, *y = b;

	if (x->addr != y->addr)
		return x->addr < y->addr ? -1 : 1;
	return (x->name > y->name) - (x->name < y->name);
}

/* Write STRINGS and SYMBOLS of the symbols used so far: all symbols would be megabytes. */
void rec_symbols_write(struct rec_symbols *s, struct rec_file *f)
{
	size_t n = s->used.len / sizeof(struct kbl_symbol);

	if (n)
		qsort(s->used.data, n, sizeof(struct kbl_symbol), rec_used_by_addr);
	rec_string(s, "");
	rec_table(f, KBL_CHUNK_STRINGS, s->strings.data, 1, s->strings.len);
	rec_table(f, KBL_CHUNK_SYMBOLS, s->used.data, n, s->used.len);
	s->written = s->used.len;
}
