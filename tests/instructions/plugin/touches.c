// SPDX-License-Identifier: MIT
/*
 * Loads and stores by function and cache line, between one mark and the next: from these, who knows
 * the calls of the marks can say what each call accessed.
 */
#include <stdlib.h>
#include <string.h>

#include "counting.h"

#define MOST_TOUCHES 1000000	/* 40 MB */
#define NR_SLOTS (1 << 14)
#define LINE_BITS 6

static struct touch *touches;
static uint64_t nr_touches, room;
static uint32_t slots[NR_SLOTS];	/* the last row whose line and function have this hash */
uint64_t touches_lost;

void touches_clear(void)
{
	nr_touches = touches_lost = 0;
	memset(slots, 0, sizeof(slots));
}

static bool is_row(uint32_t at, uint64_t function, uint64_t line)
{
	return at < nr_touches && touches[at].line == line && touches[at].function == function &&
	       touches[at].marks == marks_made();
}

static bool has_room(void)
{
	if (nr_touches == room && room < MOST_TOUCHES) {
		room = room ? 2 * room : 31250;
		touches = realloc(touches, room * sizeof(*touches));
		if (!touches)
			abort();
	}
	return nr_touches < room;
}

/* A row without loads and stores says that those of the function are counted. */
void touch_choose(uint64_t function)
{
	if (has_room())
		touches[nr_touches++] = (struct touch){ .function = function };
}

/* If two lines share a slot, they may get several rows each: their sums are right. */
void touch_add(uint64_t function, uint64_t addr, bool store)
{
	uint64_t line = addr >> LINE_BITS << LINE_BITS;
	uint32_t *slot = &slots[((line ^ function << 20) * 0x9e3779b97f4a7c15ull >> 32) &
				(NR_SLOTS - 1)];

	if (!is_row(*slot, function, line)) {
		if (!has_room()) {
			touches_lost++;
			return;
		}
		*slot = nr_touches++;
		touches[*slot] = (struct touch){ .marks = marks_made(), .function = function,
						 .line = line };
	}
	touches[*slot].loads += !store;
	touches[*slot].stores += store;
}

const struct touch *touches_all(uint64_t *nr)
{
	*nr = nr_touches;
	return touches;
}
