// SPDX-License-Identifier: MIT
/*
 * Runs in the guest and measures page faults by the clock: faults N touches N new pages, while the
 * plugin counts, and then the same pages again.  It prints N and both sums of what the time stamp
 * counter showed for each touch.  That counter counts instructions, because the emulator's clock
 * does.  No other thread runs meanwhile: this one has the priority of a real-time thread.
 */
#include <sched.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <x86intrin.h>

#include "send.h"

#define PAGE 4096

static __attribute__((noinline)) uint64_t touch(volatile char *pages, long nr)
{
	uint64_t sum = 0;

	for (long i = 0; i < nr; i++) {
		uint64_t before = __rdtsc();

		pages[i * PAGE] = 1;
		sum += __rdtsc() - before;
	}
	return sum;
}

int main(int argc, char **argv)
{
	long nr = argc == 2 ? atol(argv[1]) : 0;
	char *pages = mmap(NULL, nr * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	const struct sched_param priority = { .sched_priority = 50 };
	uint64_t first, again;

	if (nr <= 0 || pages == MAP_FAILED || madvise(pages, nr * PAGE, MADV_NOHUGEPAGE) ||
	    !prepare_to_send() || sched_setscheduler(0, SCHED_FIFO, &priority)) {
		fprintf(stderr, "faults NUMBER\n");
		return 1;
	}
	send(MESSAGE_BEGIN, 0);
	first = touch(pages, nr);
	send(MESSAGE_END, 0);
	again = touch(pages, nr);
	printf("%ld %llu %llu\n", nr, (unsigned long long)first, (unsigned long long)again);
	return 0;
}
