// SPDX-License-Identifier: MIT
/* Marks: the sums at the entry of a function, mostly of the module's handlers. */
#include <stdlib.h>

#include "counting.h"

#define MOST_MARKS 4000000	/* 192 MB */

static struct mark *marks;
static uint64_t nr_marks, room;
uint64_t marks_lost;

void marks_clear(void)
{
	nr_marks = marks_lost = 0;
}

void marks_add(enum mark_kind kind, uint64_t place)
{
	if (nr_marks == room && room < MOST_MARKS) {
		room = room ? 2 * room : 125000;
		marks = realloc(marks, room * sizeof(*marks));
		if (!marks)
			abort();
	}
	if (nr_marks == room) {
		marks_lost++;
		return;
	}
	marks[nr_marks++] = (struct mark){
		.all = flow_all,
		.kernel = flow_sums[SIDE_KERNEL],
		.probe = flow_sums[SIDE_PROBE],
		.user = flow_sums[SIDE_USER],
		.place = place,
		.kind = kind,
	};
}

uint64_t marks_made(void)
{
	return nr_marks + marks_lost;
}

const struct mark *marks_all(uint64_t *nr)
{
	*nr = nr_marks;
	return marks;
}
