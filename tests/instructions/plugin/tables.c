// SPDX-License-Identifier: MIT
/* Blocks by their address, and loads and stores by function and cache line. */
#include <stdlib.h>
#include <string.h>

#include "counting.h"

#define NR_LISTS (1 << 16)
#define NR_ACCESSES (1 << 17)	/* 5 MB; at most half of them are used */
#define LINE_BITS 6

static struct block *blocks[NR_LISTS];
static struct access accesses[NR_ACCESSES];
static unsigned int nr_accesses;
uint64_t accesses_lost;

static unsigned int hash(uint64_t key, unsigned int size)
{
	return (key * 0x9e3779b97f4a7c15ull >> 32) & (size - 1);
}

/* Return the block, or a new one whose runs are 0. */
struct block *block_get(uint64_t start, uint64_t after, uint32_t insns, uint32_t ends)
{
	struct block **list = &blocks[hash(start, NR_LISTS)], *b;

	for (b = *list; b; b = b->next)
		if (b->start == start && b->after == after && b->insns == insns && b->ends == ends)
			return b;
	b = calloc(1, sizeof(*b));
	if (!b)
		abort();
	b->start = start;
	b->after = after;
	b->insns = insns;
	b->ends = ends;
	b->next = *list;
	*list = b;
	return b;
}

/* Blocks are never freed: code that was translated for them may still be there. */
void tables_clear(void)
{
	struct block *b;

	for (b = block_first(); b; b = block_after(b)) {
		memset(b->runs, 0, sizeof(b->runs));
		memset(b->executed, 0, sizeof(b->executed));
	}
	memset(accesses, 0, sizeof(accesses));
	nr_accesses = accesses_lost = 0;
}

static struct block *first_from(unsigned int list)
{
	while (list < NR_LISTS && !blocks[list])
		list++;
	return list < NR_LISTS ? blocks[list] : NULL;
}

struct block *block_first(void)
{
	return first_from(0);
}

struct block *block_after(struct block *b)
{
	return b->next ? b->next : first_from(hash(b->start, NR_LISTS) + 1);
}

void access_add(uint64_t function, uint64_t addr, uint64_t physical, bool store)
{
	uint64_t line = addr >> LINE_BITS;
	unsigned int at = hash(line ^ function << 20, NR_ACCESSES);
	struct access *a;

	while (accesses[at].function &&
	       (accesses[at].function != function || accesses[at].line != line << LINE_BITS))
		at = (at + 1) & (NR_ACCESSES - 1);
	a = &accesses[at];
	if (!a->function && nr_accesses == NR_ACCESSES / 2) {
		accesses_lost++;
		return;
	}
	if (!a->function) {
		nr_accesses++;
		a->function = function;
		a->line = line << LINE_BITS;
		a->physical = physical >> LINE_BITS << LINE_BITS;
	}
	a->loads += !store;
	a->stores += store;
}

const struct access *access_at(unsigned int slot)
{
	return slot < NR_ACCESSES ? &accesses[slot] : NULL;
}
