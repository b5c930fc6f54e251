// SPDX-License-Identifier: MIT
/* Exceptions and interrupts of the system that the guest named, and how often each came. */
#include <stdlib.h>
#include <string.h>

#include "counting.h"

#define MOST 256

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
	for (unsigned int i = 0; i < nr_exceptions; i++)
		memset(exceptions[i].runs, 0, sizeof(exceptions[i].runs));
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

const struct exception *exceptions_all(uint64_t *nr)
{
	*nr = nr_exceptions;
	return exceptions;
}
