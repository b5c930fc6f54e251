// SPDX-License-Identifier: MIT
/* Read names from the tables of a .kbl file. */
#include <stdlib.h>
#include <string.h>

#include "rec_reader.h"

static const char *rec_reader_string(const struct rec_reader *r, kbl_u32 at)
{
	return at < r->strings.len ? r->strings.data + at : "?";
}

static void rec_reader_probes(struct rec_reader *r)
{
	const struct kbl_probe *probe = (const void *)r->probes.data;

	/* A damaged file may name fewer probes than before; the old names were freed. */
	rec_names_forget(&r->names);
	for (size_t i = 0; i < r->probes.len / sizeof(*probe); i++)
		rec_names_probe(&r->names, probe[i].id, rec_reader_string(r, probe[i].name));
}

static void rec_reader_symbols(struct rec_reader *r)
{
	struct rec_symbols *s = &r->symbols;
	const struct kbl_symbol *symbol = (const void *)s->used.data;

	s->n = s->used.len / sizeof(*symbol);
	s->v = rec_more(s->v, s->n + 1, sizeof(*s->v));
	for (size_t i = 0; i < s->n; i++)
		s->v[i] = (struct rec_symbol){ .addr = symbol[i].addr,
					       .name = rec_reader_string(r, symbol[i].name),
					       .module = rec_reader_string(r, symbol[i].module) };
}

static void rec_reader_meta(struct rec_reader *r)
{
	char *rest, *line, reason[64];
	int number;

	rec_append(&r->payload, "", 1);
	r->names.reasons = 0;
	for (rest = r->payload.data; (line = rec_line(&rest));)
		if (sscanf(line, "drop_reason.%d=%63s", &number, reason) == 2)
			rec_names_reason(&r->names, number, reason);
}

static void rec_reader_take_table(struct rec_bytes *to, struct rec_reader *r, const char *widths,
				  size_t size)
{
	to->len = 0;
	rec_append(to, r->payload.data, r->payload.len);
	for (size_t at = 0; r->swap && size && at + size <= to->len; at += size)
		rec_swap(to->data + at, widths);
}

/* A table replaces the earlier one of its type. */
void rec_reader_table(struct rec_reader *r)
{
	struct rec_bytes devices = {};

	switch (r->chunk.type) {
	case KBL_CHUNK_STRINGS:
		rec_reader_take_table(&r->strings, r, "", 0);
		rec_append(&r->strings, "", 1);
		break;
	case KBL_CHUNK_PROBES:
		rec_reader_take_table(&r->probes, r, "844411114111188", sizeof(struct kbl_probe));
		break;
	case KBL_CHUNK_SYMBOLS:
		rec_reader_take_table(&r->symbols.used, r, "844", sizeof(struct kbl_symbol));
		break;
	case KBL_CHUNK_DEVICES:
		rec_reader_take_table(&devices, r, "44", sizeof(struct kbl_device));
		free(r->names.device);
		r->names.device = (void *)devices.data;
		r->names.devices = devices.len / sizeof(struct kbl_device);
		for (size_t i = 0; i < r->names.devices; i++)
			r->names.device[i].name[sizeof(r->names.device[i].name) - 1] = 0;
		break;
	case KBL_CHUNK_META:
		rec_reader_meta(r);
		break;
	}
	rec_reader_probes(r);
	rec_reader_symbols(r);
}
