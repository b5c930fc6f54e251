// SPDX-License-Identifier: MIT
/*
 * The machine code of the functions of the probe lists (--code), from /proc/kcore.
 *
 * The code is read once, before the probes are armed.  So it contains everything that the kernel
 * had replaced in it (alternatives, static keys, calls of other tracers), but no probe of
 * kbl.ko.
 */
#include <stdlib.h>
#include <string.h>

#include "rec_code.h"

#define REC_ALIGNED 16	/* of functions; also a multiple of an instruction of arm64 */

/*
 * The number of bytes up to the next symbol of the same module.  If there is no such symbol
 * within KBL_MAX_FUNCTION bytes, at most KBL_MAX_FUNCTION, and *flags is KBL_CODE_NO_END.
 */
static size_t rec_code_extent(const struct rec_symbols *s, kbl_u64 addr, kbl_u32 *flags)
{
	const struct rec_symbol *symbol = rec_symbol_at(s, addr), *next = symbol;

	*flags = 0;
	while (next && next < s->v + s->n && next->addr <= addr)
		next++;
	if (next && next < s->v + s->n && !strcmp(next->module, symbol->module) &&
	    next->addr - addr <= KBL_MAX_FUNCTION)
		return next->addr - addr;
	*flags = KBL_CODE_NO_END;
	return KBL_MAX_FUNCTION;
}

/* Without the zeros at the end, which are read where a module has no more memory. */
static size_t rec_code_used(const char *data, size_t len)
{
	size_t used = len;

	while (used && !data[used - 1])
		used--;
	used = (used + REC_ALIGNED - 1) / REC_ALIGNED * REC_ALIGNED;
	return used < len ? used : len;
}

/* Returns false if the code cannot be read, or if it would exceed KBL_MAX_CODE. */
static bool rec_code_add(struct rec_code *c, const struct rec_kcore *k, struct rec_symbols *s,
			 kbl_u64 addr)
{
	static char data[KBL_MAX_FUNCTION];
	struct kbl_code slot = { .addr = addr, .offset = c->bytes.len };
	size_t len = rec_kcore_read(k, addr, data, rec_code_extent(s, addr, &slot.flags));
	size_t used = rec_code_used(data, len);

	if (slot.flags & KBL_CODE_NO_END)
		len = used;
	if (!used || c->bytes.len + len > KBL_MAX_CODE)
		return false;
	slot.size = len;
	rec_append(&c->bytes, data, len);
	rec_append(&c->table, &slot, sizeof(slot));
	rec_targets_use(s, addr, (const unsigned char *)data, len);
	return true;
}

/* Read the code, and say how much there is, or why there is none. */
void rec_code_read(struct rec_code *c, const struct rec_probes *p, struct rec_symbols *s)
{
	size_t read = 0, asked = 0;
	struct rec_kcore k;
	const char *why = rec_kcore_open(&k);

	if (why) {
		fprintf(stderr, "kblrecord: no code of functions is recorded: /proc/kcore: %s\n",
			why);
		return;
	}
	for (size_t i = 0; i < p->n; i++) {
		if (!p->v[i].asked)
			continue;
		asked++;
		read += rec_code_add(c, &k, s, p->v[i].asked);
	}
	rec_kcore_close(&k);
	fprintf(stderr, "kblrecord: code of %zu of %zu functions, %zu bytes\n", read, asked,
		c->bytes.len);
}

/* Write CODE_BYTES and CODE, if there is any code. */
void rec_code_write(const struct rec_code *c, struct rec_file *f)
{
	size_t n = c->table.len / sizeof(struct kbl_code);

	if (!n)
		return;
	rec_table(f, KBL_CHUNK_CODE_BYTES, c->bytes.data, 1, c->bytes.len);
	rec_table(f, KBL_CHUNK_CODE, c->table.data, n, c->table.len);
}
