// SPDX-License-Identifier: MIT
/* Exceptions and interrupts of the system that the guest named: how often each came, how long it took. */
#include <stdlib.h>
#include <string.h>

#include "counting.h"

#define MOST 256
#define MOST_OPEN 32

/* What began and did not return yet, since the last switch of threads. */
struct open {
	struct exception *exception;	/* NULL: a device's interrupt */
	uint64_t kernel;		/* the kernel's instructions before it */
};

static struct open open[MOST_OPEN];
static unsigned int nr_open;
static struct exception exceptions[MOST];
static unsigned int nr_exceptions;
static char name[NAME_BYTES];	/* of the next one */
static size_t length;

void exceptions_forget(void)
{
	nr_exceptions = 0;
	length = 0;
	memset(name, 0, sizeof(name));
}

void exceptions_clear(void)
{
	for (unsigned int i = 0; i < nr_exceptions; i++) {
		struct exception *e = &exceptions[i];

		memset(e->runs, 0, sizeof(e->runs));
		e->returned = e->steps = e->longest = 0;
	}
	nr_open = 0;
}

void exception_letters(uint32_t letters)
{
	if (length + sizeof(letters) <= sizeof(name))
		memcpy(name + length, &letters, sizeof(letters));
	length += sizeof(letters);
}

void exception_add(uint64_t address)
{
	if (nr_exceptions == MOST)
		abort();
	exceptions[nr_exceptions].address = address;
	memcpy(exceptions[nr_exceptions++].name, name, sizeof(name));
	length = 0;
	memset(name, 0, sizeof(name));
}

struct exception *exception_at(uint64_t address)
{
	for (unsigned int i = 0; i < nr_exceptions; i++)
		if (exceptions[i].address == address)
			return &exceptions[i];
	return NULL;
}

void exception_enter(struct exception *entered)
{
	if (nr_open == MOST_OPEN)
		nr_open = 0;
	open[nr_open++] = (struct open){ entered, flow_sums[SIDE_KERNEL] };
}

/* Exceptions of one thread nest.  One that began before the thread was switched out is not open. */
void exception_return(void)
{
	struct exception *e;
	uint64_t steps;

	if (!nr_open)
		return;
	e = open[--nr_open].exception;
	steps = flow_sums[SIDE_KERNEL] - open[nr_open].kernel;
	if (!e)
		return;
	e->returned++;
	e->steps += steps;
	if (steps > e->longest)
		e->longest = steps;
}

void exceptions_switch(void)
{
	nr_open = 0;
}

const struct exception *exceptions_all(uint64_t *nr)
{
	*nr = nr_exceptions;
	return exceptions;
}
