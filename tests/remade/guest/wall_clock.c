// SPDX-License-Identifier: MIT
/*
 * wall-clock BASE BEHIND: set CLOCK_REALTIME to BASE + the emulator's time - BEHIND; seconds.
 *
 * With -icount, the time stamp counter is the emulator's virtual time in ns.  The emulator stamps
 * the packets that it captures with BASE + that time, so afterwards the wall clock of this kernel is
 * BEHIND seconds behind the capture's clock.
 */
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <x86intrin.h>

#define SECOND 1000000000LL

int main(int argc, char **argv)
{
	struct timespec to;
	long long ns;

	if (argc != 3)
		return 2;
	ns = (atoll(argv[1]) - atoll(argv[2])) * SECOND + (long long)__rdtsc();
	to.tv_sec = ns / SECOND;
	to.tv_nsec = ns % SECOND;
	if (clock_settime(CLOCK_REALTIME, &to)) {
		perror("clock_settime");
		return 1;
	}
	return 0;
}
