// SPDX-License-Identifier: MIT
/* The addresses that the guest announced. */
#include <stdlib.h>

#include "counting.h"
#include "messages.h"

#define MOST 1024

struct list {
	struct range at[MOST];
	unsigned int nr;
};

static struct list probes, vectors, accesses, modules, handlers, entries, exits, watched, switches;
static uint64_t from;

void symbols_clear(void)
{
	probes.nr = vectors.nr = accesses.nr = 0;
	modules.nr = handlers.nr = entries.nr = exits.nr = watched.nr = switches.nr = 0;
	exceptions_forget();
}

static void add(struct list *list, uint64_t begin, uint64_t end)
{
	if (list->nr == MOST)
		abort();
	list->at[list->nr++] = (struct range){ begin, end };
}

static const struct range *find(const struct list *list, uint64_t addr)
{
	for (unsigned int i = 0; i < list->nr; i++)
		if (addr >= list->at[i].begin && addr < list->at[i].end)
			return &list->at[i];
	return 0;
}

void symbols_message(unsigned int message, uint64_t addr)
{
	switch (message) {
	case MESSAGE_FROM: from = addr; break;
	case MESSAGE_PROBE: add(&probes, from, addr); break;
	case MESSAGE_VECTORS: add(&vectors, from, addr); break;
	case MESSAGE_ACCESSES: add(&accesses, from, addr); break;
	case MESSAGE_LETTERS: exception_letters(addr); break;
	case MESSAGE_EXCEPTION: exception_add(addr); break;
	case MESSAGE_SWITCH: add(&switches, addr, addr + 1); break;
	case MESSAGE_MODULE: add(&modules, from, addr); break;
	case MESSAGE_HANDLER: add(&handlers, addr, addr + 1); break;
	case MESSAGE_ENTRY: add(&entries, addr, addr + 1); break;
	case MESSAGE_EXIT: add(&exits, addr, addr + 1); break;
	case MESSAGE_WATCH: add(&watched, addr, addr + 1); break;
	}
}

void symbols_classify(struct block *b)
{
	b->probe = find(&probes, b->start);
	b->probe_entry = b->probe && b->probe->begin == b->start;
	b->module = find(&modules, b->start);
	b->handler = find(&handlers, b->start);
	b->exception = exception_at(b->start);
	b->switches = find(&switches, b->start);
	b->vectors = find(&vectors, b->start);
	b->mark = find(&entries, b->start) ? MARK_ENTRY :
		  find(&exits, b->start) ? MARK_EXIT :
		  find(&watched, b->start) ? MARK_WATCH : MARK_NONE;
}

const struct range *symbols_accesses_at(unsigned int at)
{
	return at < accesses.nr ? &accesses.at[at] : NULL;
}

bool symbols_probe(uint64_t addr)
{
	return find(&probes, addr);
}

const struct range *symbols_accesses(uint64_t addr)
{
	return find(&accesses, addr);
}
