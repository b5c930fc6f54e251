// SPDX-License-Identifier: MIT
/*
 * table THREADS KEYS: threads which each hold KEYS keys of their own add, look
 * for and forget them, over and over.  Says how many keys found no room; ends
 * with 1 when a key is not where its holder put it, or is where it took it away.
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

#include "kbl_filter.h"

#define ROUNDS 20

static struct kbl_filter_table table;
static unsigned long keys, without_room;
static int wrong;

/* As the slab gives them out: aligned, near each other. */
static u64 key_of(unsigned long thread, unsigned long i)
{
	return 0xffff888100000000ull + (thread * keys + i) * 256;
}

static void *hold(void *number)
{
	unsigned long thread = (unsigned long)number, i, lost = 0;

	for (int round = 0; round < ROUNDS; round++) {
		for (i = 0; i < keys; i++) {
			u64 key = key_of(thread, i);
			bool added = kbl_table_add(&table, key);

			lost += !added;
			if (kbl_table_has(&table, key) != added ||
			    (!added && !kbl_table_full(&table, key)))
				__atomic_store_n(&wrong, 1, __ATOMIC_RELAXED);
		}
		for (i = 0; i < keys; i++) {
			kbl_table_forget(&table, key_of(thread, i));
			if (kbl_table_has(&table, key_of(thread, i)))
				__atomic_store_n(&wrong, 1, __ATOMIC_RELAXED);
		}
	}
	__atomic_fetch_add(&without_room, lost, __ATOMIC_RELAXED);
	return NULL;
}

int main(int argc, char **argv)
{
	unsigned long threads = argc == 3 ? strtoul(argv[1], NULL, 0) : 0, i;
	pthread_t *id = calloc(threads, sizeof(*id));

	keys = argc == 3 ? strtoul(argv[2], NULL, 0) : 0;
	for (i = 0; i < threads; i++)
		if (pthread_create(&id[i], NULL, hold, (void *)i))
			return 2;
	for (i = 0; i < threads; i++)
		pthread_join(id[i], NULL);
	free(id);
	printf("%lu\n", without_room);
	return wrong;
}
